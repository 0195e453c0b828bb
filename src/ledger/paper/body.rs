//! Abstract and sections 1 to 5: headline figures, assumptions, the theorems' own numbers, and the
//! table that maps theorems to code.

use super::{Block, Grid, Part, place, r, s, t};

pub(super) const PART: Part = Part {
    blocks: BLOCKS,
    grids: GRIDS,
};

const BLOCKS: &[Block] = &[
    Block {
        place: place("abstract", "Abstract"),
        cells: &[
            ("theorems", s("7")),
            ("sample-sizes", s("5")),
            ("gap", r("0.0085")),
            ("bound", r("0.228")),
            ("N", s("4200")),
            ("ratio-to-lower", r("1.12x")),
            ("performance", r("88%")),
            ("corrupted", s("50%")),
            ("R2", r("0.849")),
            ("decomposition-error", r("<0.002%")),
            ("largest-N", s("4200")),
            ("evaluation-domains", s("8")),
            ("accuracy", r("99.3%")),
            ("ece", r("1.5%")),
            ("domains", s("8")),
        ],
    },
    Block {
        place: place("sec:architecture", "Section 1.2"),
        cells: &[
            ("stages", s("4")),
            ("stage/1", t("evidence encoding")),
            ("stage/2", t("factor conversion")),
            ("stage/3", t("weighting")),
            ("stage/4", t("aggregation")),
        ],
    },
    Block {
        place: place("sec:empirical-overview", "Section 1.3"),
        cells: &[
            ("domains", s("8")),
            ("domain/1", t("compliance")),
            ("domain/2", t("healthcare")),
            ("domain/3", t("finance")),
            ("domain/4", t("legal")),
            ("domain/5", t("academic")),
            ("domain/6", t("materials")),
            ("domain/7", t("construction")),
            ("domain/8", t("FEVER")),
            ("lpf/accuracy", r("99.3%")),
            ("lpf/ece", r("1.5%")),
            ("bert/accuracy", r("97.0%")),
            ("bert/ece", r("3.2%")),
            ("edl/accuracy", r("43.0%")),
            ("edl/ece", r("21.4%")),
            ("qwen/accuracy", r("98.0%")),
            ("qwen/ece", r("79.7%")),
        ],
    },
    Block {
        place: place("sec:assumptions", "Section 2, assumption 5"),
        cells: &[("K_max", s("5"))],
    },
    Block {
        place: place("sec:thm1", "Section 3.1"),
        cells: &[
            ("classes", s("3")),
            ("delta", s("0.05")),
            ("C", r("~2.42")),
            ("C-observed", r("~2.0")),
            ("epsilon", r("0.140")),
            ("ece", r("0.185")),
            ("bound/epsilon", r("0.140")),
            ("bound/C", s("2.0")),
            ("bound/K_eff", s("5")),
            ("bound", r("~1.034")),
            ("margin", r("82%")),
        ],
    },
    Block {
        place: place("sec:thm2", "Section 3.2"),
        cells: &[
            ("M=16/mean", r("0.013")),
            ("M=16/p95", r("0.053")),
            ("M=16/bound", r("0.387")),
            ("M=64/mean", r("0.008")),
            ("M=64/p95", r("0.025")),
            ("M=64/bound", r("0.193")),
        ],
    },
    Block {
        place: place("sec:thm3", "Section 3.3"),
        cells: &[
            ("hidden", s("16")),
            ("parameters", r("~2800")),
            ("d_eff", r("~1335")),
            ("active", r("47%")),
            ("N", s("4200")),
            ("samples-per-dimension", r("3.1x")),
            ("gap", r("0.0085")),
            ("bound", r("0.228")),
            ("margin", r("96.3%")),
        ],
    },
    Block {
        place: place("sec:thm4", "Section 3.4"),
        cells: &[
            ("top-k", s("10")),
            ("H(Y|E)", r("0.158")),
            ("H(Y)", r("1.399")),
            ("reduction/H(Y)", r("1.399")),
            ("reduction/H(Y|E)", r("0.158")),
            ("reduction/denominator", r("1.399")),
            ("reduction", r("88.7%")),
            ("check/H(Y)", r("1.399")),
            ("check/H(Y|E)", r("0.158")),
            ("noise", r("0.317")),
            ("lower", r("0.158")),
            ("achievable", r("0.317")),
            ("ece", r("0.178")),
            ("ratio-to-achievable", r("1.12x")),
        ],
    },
    Block {
        place: place("sec:thm5", "Section 3.5"),
        cells: &[
            ("eps", s("0.5")),
            ("L1", r("0.122")),
            ("bound", r("3.162")),
            ("ratio-at-all-levels", r("~4%")),
        ],
    },
    Block {
        place: place("sec:thm6", "Section 3.6"),
        cells: &[
            ("plateau", r("~7")),
            ("K", s("5")),
            ("uniform-ece", r("0.036")),
            ("ece", r("0.186")),
            ("fit/slope", r("0.245")),
            ("fit/floor", r("0.120")),
            ("R2", r("0.849")),
        ],
    },
    Block {
        place: place("sec:thm7", "Section 3.7"),
        cells: &[
            ("decomposition-error", r("<0.002%")),
            ("K=1/epistemic", r("0.034")),
            ("K=3/epistemic", r("0.123")),
            ("K=5/epistemic", r("0.111")),
            ("aleatoric", r("~0.042")),
        ],
    },
    Block {
        place: place("tab:implementation", "Section 5, caption of Table 1"),
        cells: &[
            ("K_max", s("5")),
            ("K_max-scaling", s("20")),
            ("N", s("4200")),
        ],
    },
];

/// Table 1. The third and fourth columns are the theorem's own sizes: the first number is the
/// count in the experiment's or implementation's description, the second the data set's size.
const GRIDS: &[Grid] = &[Grid {
    place: place("tab:implementation", "Section 5, Table 1"),
    columns: &[
        "detail",
        "experiment",
        "dataset",
        "N",
        "metric",
        "variables",
    ],
    rows: &[
        (
            "T1",
            &[
                t("not sigma_max; A1, A3, A4 only"),
                s("10"),
                t("synthetic"),
                s("700"),
                t("ECE"),
                t("epsilon, delta_theoretical"),
            ],
        ),
        (
            "T2",
            &[
                t("A2 for bounded decoder inputs"),
                t("M ablation"),
                t("posteriors"),
                s("20"),
                t("max error"),
                t("M, errors"),
            ],
        ),
        (
            "T3",
            &[
                t("d_eff, not sigma_max"),
                t("train/test split"),
                t("dedicated"),
                s("4200"),
                t("gap and bound"),
                t("vc_dim, empirical_gap"),
            ],
        ),
        (
            "T4",
            &[
                t("uniform weighting"),
                t("mutual information"),
                t("synthetic"),
                s("100"),
                t("ECE and bound"),
                t("I_E_Y, noise"),
            ],
        ),
        (
            "T5",
            &[
                t("A1, A6"),
                t("corruption injection"),
                t("synthetic"),
                s("100"),
                t("L1 distance"),
                t("corruption_levels, l1_distances"),
            ],
        ),
        (
            "T6",
            &[
                t("K from 1 to the next column"),
                s("20"),
                t("synthetic"),
                s("100"),
                t("ECE by K"),
                t("evidence_counts, lpf_ece"),
            ],
        ),
        (
            "T7",
            &[
                t("law of total variance"),
                t("variance decomposition"),
                t("synthetic"),
                s("50"),
                t("decomposition error"),
                t("epistemic_variance, aleatoric_variance"),
            ],
        ),
    ],
}];
