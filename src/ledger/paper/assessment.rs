//! Sections 6.8, 6.9 and 7: the assumptions measured, the domains, and the comparisons.

use super::{Block, Grid, Part, place, pm, r, s, t};

pub(super) const PART: Part = Part {
    blocks: BLOCKS,
    grids: GRIDS,
};

const BLOCKS: &[Block] = &[
    Block {
        place: place("sec:assumption-validation", "Section 6.8"),
        cells: &[
            ("A1/correlation", r("0.12")),
            ("A2/mean", r("0.87")),
            ("A2/max", r("2.34")),
            ("A2/sigma_max", s("2.5")),
            ("A3/epsilon", r("0.140")),
            ("A5/K_max", s("5")),
            ("A5/K_max-scaling", s("20")),
            ("A5/sources-least", s("3")),
            ("A5/sources-most", s("10")),
            ("A6/floor", r("0.01")),
            ("A6/required/numerator", s("1")),
            ("A6/required/denominator", s("6")),
            ("A6/required", r("~0.167")),
            ("A6/classes", s("3")),
            ("A6/codes", s("1,000")),
            ("assumptions", s("6")),
            ("summary/correlation", r("0.12")),
        ],
    },
    Block {
        place: place("sec:cross-domain", "Section 6.9"),
        cells: &[
            ("fever", r("99.7%")),
            ("academic", r("100.0%")),
            ("construction", r("100.0%")),
            ("healthcare", r("99.3%")),
            ("finance", r("99.3%")),
            ("materials", r("99.3%")),
            ("legal", r("99.3%")),
            ("domains", s("8")),
            ("accuracy", r("99.3%")),
            ("ece", r("1.5%")),
            ("improvement", r("+2.4%")),
            ("theorems", s("7")),
        ],
    },
    Block {
        place: place("tab:theory-vs-empirical", "Section 6.9, Table 8"),
        cells: &[
            ("T1/ece", r("0.185")),
            ("T1/bound", r("1.034")),
            ("T1/margin", r("82%")),
            ("T2/R2", r("0.849")),
            ("T3/gap", r("0.0085")),
            ("T3/bound", r("0.228")),
            ("T3/margin", r("96.3%")),
            ("T4/ece", r("0.178")),
            ("T4/achievable", r("0.317")),
            ("T4/ratio", r("1.12x")),
            ("T5/L1", r("0.122")),
            ("T5/bound", r("3.162")),
            ("T5/ratio", r("4%")),
            ("T6/plateau", r("~7")),
            ("T7/decomposition-error", r("<0.002%")),
        ],
    },
    Block {
        place: place("sec:positioning", "Section 7.1"),
        cells: &[("guarantees", s("7"))],
    },
    Block {
        place: place(
            "tab:theoretical-comparison",
            "Section 7.2, caption of Table 9",
        ),
        cells: &[
            ("caption/ratio-to-lower", r("1.12x")),
            ("caption/ece", r("0.185")),
            ("caption/learned-ece", r("0.058")),
            ("caption/uniform-ece", r("0.036")),
            ("caption/K", s("5")),
        ],
    },
    Block {
        place: place("sec:advantages", "Section 7.2, below Table 9"),
        cells: &[
            ("lpf/ece", r("1.4%")),
            ("bert/accuracy", r("97.0%")),
            ("bert/ece", r("3.2%")),
            ("bert/worse", r("2.3x")),
            ("edl/accuracy", r("43.0%")),
            ("edl/ece", r("21.4%")),
        ],
    },
];

const GRIDS: &[Grid] = &[
    Grid {
        place: place("tab:theoretical-comparison", "Section 7.2, Table 9"),
        columns: &["baseline", "spn", "learned"],
        rows: &[
            ("valid", &[t("yes"), t("yes, L3"), t("yes, L3")]),
            ("order", &[t("yes"), t("yes"), t("yes, symmetric")]),
            ("calibration", &[t("no"), t("T1"), r("0.058")]),
            ("mc", &[t("N/A"), t("T2"), t("T2")]),
            ("generalization", &[t("vacuous"), t("N/A"), s("4200")]),
            ("information", &[t("no"), r("1.12x"), t("empirical")]),
            ("robustness", &[t("O(eps K)"), t("T5"), t("T5")]),
            ("samples", &[t("baseline"), t("T6"), t("T6")]),
            (
                "decomposition",
                &[t("heuristic"), r("<0.002%"), r("<0.002%")],
            ),
            ("trust", &[t("overconfident"), t("T7"), t("T7")]),
        ],
    },
    Grid {
        place: place("tab:empirical-comparison", "Section 7.3, Table 10"),
        columns: &["baseline", "spn", "learned", "note"],
        rows: &[
            (
                "ece",
                &[r("0.036"), r("0.186"), r("0.058"), t("baseline best")],
            ),
            ("ece-K", &[s("5"), s("5"), s("5"), t("in the row's header")]),
            ("accuracy", &[r("~85%"), r("~92%"), r("95.4%"), r("+10.4%")]),
            (
                "gap",
                &[t("unknown"), t("N/A"), r("0.0085"), t("below bound")],
            ),
            (
                "gap-margin",
                &[t("none"), t("none"), r("96.3%"), t("in the row's note")],
            ),
            (
                "decomposition",
                &[t("N/A"), r("<0.002%"), r("<0.002%"), t("exact")],
            ),
            ("robustness", &[r("~50%"), r("12%"), r("12%"), r("4x")]),
            (
                "robustness-eps",
                &[s("0.5"), s("0.5"), s("0.5"), t("in the row's header")],
            ),
            (
                "mc-M",
                &[t("N/A"), s("16"), s("16"), t("in the row's header")],
            ),
            (
                "mc",
                &[
                    t("N/A"),
                    pm("0.013", "0.018"),
                    pm("0.013", "0.018"),
                    t("within O(1/sqrt M)"),
                ],
            ),
        ],
    },
];
