//! Sections 8 and 9 and the appendix: limitations, conclusion, and numbers inside the proofs.

use super::{Block, Grid, Part, place, r, s, t};

pub(super) const PART: Part = Part {
    blocks: BLOCKS,
    grids: GRIDS,
};

const BLOCKS: &[Block] = &[
    Block {
        place: place("sec:limitations-ack", "Section 8.1"),
        cells: &[
            ("K_max", s("5")),
            ("K/1", s("1")),
            ("K/2", s("2")),
            ("K/3", s("3")),
            ("K/4", s("5")),
            ("K-beyond", s("100")),
            ("plateau", r("~7")),
            ("companies-least", s("50")),
            ("companies-most", s("100")),
            ("scope", t("single domain")),
            ("compared-with", t("uniform averaging only")),
            ("baselines", s("10")),
            ("lpf/accuracy", r("97.8%")),
            ("bert/accuracy", r("97.0%")),
            ("lpf/ece", r("1.4%")),
            ("bert/ece", r("3.2%")),
            ("K=1/epistemic", r("0.034")),
            ("conservative/ece", r("1.4%")),
            ("conservative/margin", r("82%")),
            ("conservative/bound", r("1.034")),
        ],
    },
    Block {
        place: place("sec:limitations-assumptions", "Section 8.2"),
        cells: &[
            ("A1/correlation", r("0.12")),
            ("A3/epsilon", r("0.140")),
            ("needed/factor", s("1.5")),
            ("needed/N", s("2002")),
            ("few-shot", s("100")),
        ],
    },
    Block {
        place: place("sec:limitations-practical", "Section 8.3"),
        cells: &[
            ("K", s("100")),
            ("M", s("64")),
            ("passes", s("6,400")),
            ("hidden-best", s("16")),
            ("hidden-vacuous", s("64")),
        ],
    },
    Block {
        place: place("sec:future", "Section 8.4"),
        cells: &[("K-beyond", s("100"))],
    },
    Block {
        place: place("sec:conclusion", "Section 9"),
        cells: &[
            ("theorems", s("7")),
            ("T1/margin", r("82%")),
            ("T2/M", s("16")),
            ("T2/error", r("<2%")),
            ("T5/performance", r("88%")),
            ("T5/corrupted", s("50%")),
            ("T4/ratio-to-lower", r("1.12x")),
            ("T7/decomposition-error", r("<0.002%")),
            ("T3/gap", r("0.0085")),
            ("T3/bound", r("0.228")),
            ("T3/margin", r("96.3%")),
            ("T3/N", s("4200")),
            ("T6/R2", r("0.849")),
            ("insight/decomposition-error", r("<0.002%")),
            ("insight/K", s("5")),
            ("insight/plateau", r("~7")),
        ],
    },
    Block {
        place: place("app:proof-thm1", "Appendix B.1, step 4"),
        cells: &[
            ("classes", s("3")),
            ("delta", s("0.05")),
            ("C", r("~2.42")),
            ("C-observed", r("~2.0")),
        ],
    },
    Block {
        place: place("app:proof-thm3", "Appendix B.3, step 3"),
        cells: &[
            ("factor", s("1.5")),
            ("N", s("4200")),
            ("needed", s("2002")),
            ("product/factor", s("1.5")),
            ("product/d_eff", r("1335")),
        ],
    },
];

const GRIDS: &[Grid] = &[];
