//! The deliberate faults.

/// One change to one file of the library that makes it wrong.
pub struct Fault {
    /// What is done wrong, in a few words.
    pub name: &'static str,
    /// The file.
    pub file: &'static str,
    /// What stands there, exactly once.
    pub find: &'static str,
    /// What the fault makes of it.
    pub replace: &'static str,
    /// The harness that must refute it under Kani, without `proofs::`; `None` where only harnesses
    /// that `cargo test` enumerates can.
    pub harness: Option<&'static str>,
}

impl Fault {
    /// Names the harness that must refute the fault under Kani.
    const fn by(mut self, harness: &'static str) -> Self {
        self.harness = Some(harness);
        self
    }
}

const fn fault(
    name: &'static str,
    file: &'static str,
    find: &'static str,
    replace: &'static str,
) -> Fault {
    Fault {
        name,
        file,
        find,
        replace,
        harness: None,
    }
}

/// Each is the kind of slip that a numeric core invites.
#[rustfmt::skip]
pub const FAULTS: &[Fault] = &[
    fault("uniform over the support", "src/simplex/normalize.rs",
        "    let total = canonical_sum(values);\n    for value in values.iter_mut() {",
        "    let total = S::from_count(values.iter().filter(|v| !v.is_zero()).count());\n    for value in values.iter_mut() {\n        if !value.is_zero() {\n            *value = S::one();\n        }")
        .by("normalization::normalize_is_every_entry_over_the_sum_of_all"),
    fault("forget to subtract the maximum", "src/simplex/normalize.rs",
        "*x = (*x - max).exp();",
        "*x = (*x).exp();")
        .by("softmax::softmax_of_any_3_doubles_succeeds_or_names_the_right_error"),
    fault("add 1e-10 to the sum", "src/simplex/normalize.rs",
        "let total = canonical_sum(values);",
        "let total = canonical_sum(values) + S::unit_tolerance(1 << 19);")
        .by("normalization::normalize_of_2_small_doubles_is_the_quotient_by_the_sum"),
    fault("accept negative entries", "src/simplex/normalize.rs",
        "        if *value < S::zero() {",
        "        if *value < S::zero() - S::one() {")
        .by("constructor::accepted_entries_of_3_doubles_are_probabilities"),
    fault("accept infinite entries", "src/simplex/normalize.rs",
        "        if !value.is_finite() {",
        "        if false {")
        .by("normalization::normalize_of_any_3_doubles_succeeds_or_names_the_right_error"),
    fault("divide zero by zero", "src/simplex/normalize.rs",
        "    if largest.is_zero() {",
        "    if false {")
        .by("normalization::normalize_of_any_3_doubles_succeeds_or_names_the_right_error"),
    fault("let large sums overflow", "src/simplex/normalize.rs",
        "if let Some(scale) = S::overflow_guard(largest) {",
        "if let Some(scale) = S::overflow_guard(largest).filter(|_| false) {"),
    fault("subtract -inf from -inf", "src/simplex/normalize.rs",
        "    if max == S::neg_infinity() {",
        "    if false {")
        .by("softmax::softmax_of_any_3_doubles_succeeds_or_names_the_right_error"),
    fault("name the wrong entry", "src/simplex/normalize.rs",
        "        if value.is_nan() {\n            return Err(SimplexError::NotANumber { index });",
        "        if value.is_nan() {\n            return Err(SimplexError::NotANumber { index: 0 });")
        .by("normalization::normalize_of_any_3_doubles_succeeds_or_names_the_right_error"),
    fault("scale before the check", "src/simplex/normalize.rs",
        "pub fn normalize<S: Field>(values: &mut [S]) -> Result<(), SimplexError> {\n",
        "pub fn normalize<S: Field>(values: &mut [S]) -> Result<(), SimplexError> {\n    values.iter_mut().for_each(|v| *v = v.clone() + v.clone());\n")
        .by("normalization::normalize_leaves_a_refused_input_unchanged"),
    fault("widen the tolerance of the sum", "src/simplex/distribution.rs",
        "validate(&values, &S::unit_tolerance(values.len()))?;",
        "validate(&values, &S::unit_tolerance(values.len() << 20))?;")
        .by("constructor::constructor_accepts_exactly_the_distributions_of_2_doubles"),
    fault("accept sums below one", "src/simplex/distribution.rs",
        "    if above || below {",
        "    if above {")
        .by("constructor::constructor_refuses_the_first_sum_beyond_the_tolerance"),
    fault("forget the weight of a linear pool", "src/simplex/pool.rs",
        "row.as_ref()\n                .get(y)\n                .map_or_else(S::zero, |p| w.clone() * p.clone())",
        "{ let _ = w; row.as_ref()\n                .get(y)\n                .map_or_else(S::zero, |p| p.clone()) }")
        .by("closure::weighted_sum_of_2_normalized_rows_of_3_adds_up_to_one"),
    fault("add where factors multiply", "src/simplex/pool.rs",
        "|x| p * num_traits::pow(x.clone(), e as usize))",
        "|x| p + num_traits::pow(x.clone(), e as usize))"),
    fault("ignore exponents", "src/simplex/pool.rs",
        "num_traits::pow(x.clone(), e as usize)",
        "num_traits::pow(x.clone(), (e as usize).min(1))")
        .by("closure::power_product_is_the_formula_class_by_class"),
    fault("forget the weight of a log pool", "src/simplex/log_pool.rs",
        "terms[n] = sign * (weight * ln(p));",
        "terms[n] = sign * ln(p);")
        .by("log_pool::log_scores_are_sums_of_weighted_logarithms"),
    fault("let an excluded class come back", "src/simplex/log_pool.rs",
        "        if self.impossible() {\n            f64::NEG_INFINITY\n",
        "        if self.impossible() {\n            -1e3\n")
        .by("log_pool::log_scores_are_sums_of_weighted_logarithms"),
    fault("add in the order given", "src/math/scalar.rs",
        "while slot > 0 && terms[i] < terms[order[slot - 1]] {",
        "while slot > 0 && terms[i] < terms[order[slot - 1]] && n > SORTED {")
        .by("sums::canonical_sums_add_from_the_smallest_to_the_largest"),
    fault("lose the upper bits of a term", "src/math/exact_sum.rs",
        "self.chunks[chunk + 2] += signed((wide >> 64) as u64);",
        "self.chunks[chunk + 2] += 0;"),
    fault("lose the sign of a term", "src/math/exact_sum.rs",
        "let sign = -((bits >> 63) as i64);",
        "let sign = 0i64;"),
    fault("give subnormals a hidden bit", "src/math/exact_sum.rs",
        "            (fraction, 0)",
        "            (fraction | 1 << 52, 0)"),
    fault("merge by overwriting", "src/math/exact_sum.rs",
        "            *a += b;",
        "            *a = *b;"),
    fault("bend the exponential", "src/math/elementary.rs",
        "    libm::exp(x)",
        "    libm::exp(x) * (1.0 + 4.0 * f64::EPSILON)"),
    fault("add 1e-10 inside the logarithm", "src/math/elementary.rs",
        "    libm::log(x)",
        "    libm::log(x + 1e-10)"),
    fault("forget to square the weights", "src/bounds/kish.rs",
        "weights.iter().map(|w| w.clone() * w.clone())",
        "weights.iter().cloned()")
        .by("kish::effective_count_of_2_lies_between_one_and_two"),
    fault("forget to square the total", "src/bounds/kish.rs",
        "(total.clone() * total, squares)",
        "(total, squares)")
        .by("kish::effective_count_of_3_lies_between_one_and_three"),
    fault("accept negative weights", "src/bounds/kish.rs",
        "if !(value >= 0.0 && value.is_finite()) {",
        "if !value.is_finite() {")
        .by("kish::effective_count_names_the_first_weight_it_refuses"),
    fault("lose the low half of a square", "src/bounds/kish.rs",
        "            squares.add(square.low);",
        "            squares.add(0.0 * square.low);"),
    fault("< for <= at a bin edge", "src/calibration/bins.rs",
        "(((2 * mantissa - 1) * bins - 1) >>",
        "((2 * mantissa * bins) >>")
        .by("bins::a_confidence_lies_between_the_edges_of_its_bin_of_10"),
    fault("shift out of range for small confidences", "src/calibration/bins.rs",
        "    if confidence < SMALLEST_BINNED {",
        "    if confidence <= 0.0 {")
        .by("bins::bins_grow_with_the_confidence"),
    fault("accept any number of bins", "src/calibration/bins.rs",
        "if bins == 0 || bins > MAX_BINS || !",
        "if bins == 0 || !")
        .by("bins::any_confidence_lies_in_one_bin_below_the_count"),
    fault("forget a count when bins merge", "src/calibration/reliability.rs",
        "correct: self.correct.checked_add(other.correct)?,",
        "correct: self.correct,")
        .by("bins::bin_totals_merge_in_any_order"),
    fault("accept an overlapping scope", "src/spn/validity.rs",
        "            if shared != 0 {",
        "            if false {")
        .by("spn_validity::a_product_is_accepted_exactly_if_its_children_are_disjoint"),
    fault("accept an incomplete sum", "src/spn/validity.rs",
        "            if differ != 0 {",
        "            if false {")
        .by("spn_validity::a_sum_is_accepted_exactly_if_its_children_have_one_scope"),
    fault("accept a node as its own child", "src/spn/validity.rs",
        "            if child >= node {",
        "            if child > node {"),
    fault("accept a node without children", "src/spn/validity.rs",
        "        if children.is_empty() {\n            return Err(Defect::NoChildren { node });\n        }\n",
        ""),
    fault("look up beyond the largest node", "src/spn/validity.rs",
        "self.offsets.get(node.wrapping_add(1))",
        "self.offsets.get(node + 1)")
        .by("spn_validity::children_of_any_node_never_panics"),
    fault("swap sum and product", "src/spn/evaluate.rs",
        ".fold(S::one(), |p, &child| p * values[child as usize].clone())",
        ".fold(S::zero(), |p, &child| p + values[child as usize].clone())")
        .by("spn_semantics::product_step_commutes_with_summing_out"),
    fault("forget the weights of a sum", "src/spn/evaluate.rs",
        "|(&child, weight)| weight.clone() * values[child as usize].clone()",
        "|(&child, _)| values[child as usize].clone()")
        .by("spn_semantics::sum_step_commutes_with_summing_out"),
    fault("take a leaf for normalized", "src/spn/evaluate.rs",
        "Known::Nothing => S::sum(values.iter().cloned()),",
        "Known::Nothing => S::one(),")
        .by("spn_semantics::leaf_step_is_the_sum_over_its_states"),
    fault("divide by the spread alone", "src/latent/confidence.rs",
        "Confidence::Reciprocal | Confidence::Precision => 1.0 / (1.0 + s),",
        "Confidence::Reciprocal | Confidence::Precision => 1.0 / s,")
        .by("latent::reciprocal_weight_lies_between_zero_and_one"),
    fault("turn the sigmoid round", "src/latent/confidence.rs",
        "    1.0 / (1.0 + exp(x))",
        "    1.0 / (1.0 + exp(-x))"),
    fault("share streams between items", "src/latent/random/keys.rs",
        "key[24..].copy_from_slice(&evidence.to_le_bytes());",
        "key[24..].copy_from_slice(&entity.to_le_bytes());")
        .by("latent::different_names_give_different_streams"),
    fault("give copies the same draws", "src/latent/random/keys.rs",
        "                *occurrence += 1;\n",
        "                *occurrence = 1;\n"),
    fault("take differences for squares", "src/uncertainty/variance.rs",
        "        off.clone() * off\n",
        "        off\n")
        .by("decomposition::decomposition_of_2_samples_of_3_classes_is_an_identity"),
    fault("scale the aleatoric part wrongly", "src/uncertainty/variance.rs",
        "aleatoric: count.clone() * count * aleatoric,",
        "aleatoric: count * aleatoric,")
        .by("decomposition::decomposition_of_2_samples_of_2_classes_is_an_identity"),
    fault("leave the mean out of the spread", "src/uncertainty/variance.rs",
        "count.clone() * rows[i].clone() - sums[i % classes].clone();",
        "count.clone() * rows[i].clone();")
        .by("decomposition::decomposition_of_3_samples_of_2_classes_is_an_identity"),
    fault("divide by the number of classes", "src/simplex/normalize.rs",
        "    let total = canonical_sum(values);",
        "    let total = S::from_count(values.len());")
        .by("normalization::normalize_is_every_entry_over_the_sum_of_all"),
    fault("add the first row only", "src/simplex/pool.rs",
        "S::sum(weights.iter().zip(rows).map(",
        "S::sum(weights.iter().zip(rows).take(1).map(")
        .by("closure::weighted_sum_is_the_formula_class_by_class"),
    fault("square the weights of a linear pool", "src/simplex/pool.rs",
        ".map_or_else(S::zero, |p| w.clone() * p.clone())",
        ".map_or_else(S::zero, |p| w.clone() * w.clone() * p.clone())")
        .by("closure::weighted_sum_lies_between_its_smallest_and_largest_value"),
    fault("forget the exclusions when pools merge", "src/simplex/log_pool.rs",
        "            a.excluded_by += b.excluded_by;\n",
        "")
        .by("log_pool::merged_log_pools_are_the_pool_of_both"),
    fault("keep an exclusion that is left out", "src/simplex/log_pool.rs",
        "                    .checked_sub(1)\n",
        "                    .checked_sub(0)\n")
        .by("log_pool::leaving_a_factor_out_is_never_having_added_it"),
    fault("forget the smallest term", "src/math/scalar.rs",
        "    for &i in &order[..n] {",
        "    for &i in &order[1..n] {")
        .by("sums::canonical_sum_of_two_is_their_sum_and_at_least_the_larger"),
    fault("lose the sign in the band", "src/math/banded_sum.rs",
        "band += (units ^ sign) - sign;",
        "band += units + 0 * sign;")
        .by("sums::banded_sum_of_two_is_rounded_once"),
    fault("round a confidence up before binning it", "src/calibration/bins.rs",
        "(((2 * mantissa - 1) * bins - 1) >>",
        "((2 * mantissa * bins - 1) >>")
        .by("bins::a_confidence_lies_between_the_edges_of_its_bin_of_15"),
    fault("take K_eff for two", "src/bounds/kish.rs",
        "(total.clone() * total, squares)",
        "(squares.clone() + squares.clone(), squares)")
        .by("kish::effective_count_of_3_can_be_below_two"),
    fault("count every square twice", "src/bounds/kish.rs",
        "weights.iter().map(|w| w.clone() * w.clone())",
        "weights.iter().chain(weights).map(|w| w.clone() * w.clone())")
        .by("kish::effective_count_of_3_similar_weights_is_at_least_two"),
    fault("forget to square the total of doubles", "src/bounds/kish.rs",
        "        .square()\n",
        "")
        .by("kish::effective_count_of_small_weights_is_the_quotient_of_the_sums"),
    fault("grow with the spread", "src/latent/confidence.rs",
        "Confidence::Exponential => exp(-s),",
        "Confidence::Exponential => exp(s),")
        .by("latent::exponential_weight_lies_between_zero_and_one"),
    fault("count one sample too few", "src/uncertainty/variance.rs",
        "let count = S::sum((0..samples).map(|_| S::one()));",
        "let count = S::sum((1..samples).map(|_| S::one()));")
        .by("decomposition::epistemic_part_is_zero_exactly_for_equal_samples"),
    fault("leave no room for a sum", "src/spn/scaled.rs",
        "        let headroom = usize::BITS - n.leading_zeros();\n        let mut total = 0u128;",
        "        let headroom = 0;\n        let mut total = 0u128;")
        .by("scaled::a_sum_of_two_products_is_exact"),
    fault("shift a product and not its exponent", "src/spn/scaled.rs",
        "    (product + again, (lacking & 1) as i64)",
        "    (product + again, 0)")
        .by("scaled::a_product_of_three_is_exact"),
    fault("take another node's weights", "src/spn/evaluate.rs",
        "weights.iter().skip(begin)",
        "weights.iter().skip(0 * begin)")
        .by("spn_semantics::normalized_weights_and_leaves_give_z_of_one"),
    fault("leave out a factor of a product", "src/spn/evaluate.rs",
        "            Some(NodeKind::Product) => children\n                .iter()\n",
        "            Some(NodeKind::Product) => children\n                .iter()\n                .skip(1)\n")
        .by("spn_semantics::mixture_of_products_is_the_formula"),
    fault("pass no weight down a sum", "src/spn/marginals.rs",
        "                        *flow = derivative.times(Scaled::from_f64(weight));",
        "                        *flow = derivative.times(Scaled::from_f64(weight * 0.0 + 1.0));"),
    fault("multiply a child by itself", "src/spn/marginals.rs",
        "down[0] = derivative.times(values[b as usize]);",
        "down[0] = derivative.times(values[a as usize]);"),
    fault("forget the likelihood of a state", "src/spn/marginals.rs",
        "*slot = slot.times(Scaled::from_f64(likelihoods[state]));",
        "*slot = slot.times(Scaled::from_f64(likelihoods[state].max(1.0).min(1.0)));"),
    fault("replace the evidence by the query", "src/spn/compiled.rs",
        "both.restrict(variable, state)?;",
        "both.observe(variable, state)?;"),
    fault("refuse what is just within a limit", "src/log/limits.rs",
        "                if found <= self.$field {",
        "                if found < self.$field {")
        .by("limits::a_limit_refuses_exactly_what_is_above_it"),
    fault("read a length backwards", "src/log/limits.rs",
        "u64::from_le_bytes(*length)",
        "u64::from_be_bytes(*length)")
        .by("limits::a_model_header_beyond_the_limit_is_refused"),
    fault("read integers of any length", "src/log/parquet/thrift.rs",
        "for shift in (0..64).step_by(7) {",
        "for shift in (0..128).step_by(7) {")
        .by("headers::an_integer_of_any_bytes_is_read_or_refused"),
    fault("skip texts of any length", "src/log/parquet/thrift.rs",
        "        if count > self.most {\n            return Err(Stop::Wrong);\n        }\n        let left",
        "        let left")
        .by("headers::skipping_any_bytes_stays_within_them"),
    fault("forget the correct ones when cells merge", "src/audit/grid.rs",
        "correct: self.correct + other.correct,",
        "correct: self.correct.max(other.correct),")
        .by("bins::cells_of_the_grid_merge_in_any_order"),
    fault("forget to divide", "src/simplex/normalize.rs",
        "    divide_by_sum(logits);\n",
        "")
        .by("softmax::softmax_is_the_exponential_of_the_difference_over_the_sum_of_all"),
    fault("scale the first entry only", "src/simplex/normalize.rs",
        "        for value in values.iter_mut() {\n            *value = value.clone() * scale",
        "        for value in values.iter_mut().take(1) {\n            *value = value.clone() * scale")
        .by("normalization::normalize_is_every_entry_over_the_sum_of_all"),
    fault("lose the union of scopes", "src/spn/validity.rs",
        "            space.bits[start + word] |= bits;",
        "            space.bits[start + word] = bits;")
        .by("spn_validity::a_product_is_accepted_exactly_if_its_children_are_disjoint"),
];
