//! What the author's data are: repeated, empty and shared texts, and what becomes of the results
//! without them.

use std::collections::{HashMap, HashSet};

use super::{
    Contender, Experiment, ExperimentError, Lab, Outcome, Progress, Summary, TestEntity, Trained,
    Variant, mean,
};
use crate::aggregate::Method;
use crate::assumptions::{IndependenceTest, Items, independence};
use crate::bounds::clopper_pearson;
use crate::exhibit::{Cell, Table};
use crate::synthetic::{AUTHOR_CLASSES, AuthorData, AuthorEntity, AuthorItem, EMPTY_TEXT, Part};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "data",
    title: "What the author's data are, and the results without repeated and shared texts",
    claims: &["A1", "T3", "T6"],
    run,
};

/// What can be counted in a set of entities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Entities.
    pub entities: usize,
    /// Their items.
    pub items: usize,
    /// Items without text.
    pub empty: usize,
    /// Different texts, the empty one included.
    pub texts: usize,
    /// Entities that have a text, not the empty one, more than once.
    pub repeating: usize,
    /// Among them, those that have it from two different sources.
    pub from_two_sources: usize,
    /// Different texts of each entity, summed; the empty one counts.
    pub distinct: usize,
    /// Items of the test part.
    pub test_items: usize,
    /// Those whose text, the empty one included, occurs in training.
    pub shared: usize,
    /// Items of the test part that have a text.
    pub test_texts: usize,
    /// Those whose text occurs in training.
    pub shared_texts: usize,
    /// Entities of each class.
    pub classes: [usize; AUTHOR_CLASSES.len()],
}

impl Counts {
    /// Counts a set.
    pub fn of(data: &AuthorData) -> Self {
        let training = data.part(Part::Training).flat_map(|e| &e.items);
        let training: HashSet<usize> = training.map(|item| item.text).collect();
        let mut all = HashSet::new();
        let mut counts = Counts::default();
        for entity in &data.entities {
            counts.entities += 1;
            counts.items += entity.items.len();
            counts.empty += entity.items.len() - entity.texts().count();
            all.extend(entity.items.iter().map(|item| item.text));
            let texts: HashSet<usize> = entity.texts().collect();
            counts.repeating += usize::from(texts.len() < entity.texts().count());
            counts.from_two_sources += usize::from(two_sources(entity));
            counts.distinct += entity.distinct(entity.items.len());
            counts.classes[entity.label] += 1;
        }
        counts.texts = all.len();
        for item in data.part(Part::Test).flat_map(|e| &e.items) {
            let shared = usize::from(training.contains(&item.text));
            counts.test_items += 1;
            counts.shared += shared;
            if item.text != EMPTY_TEXT {
                counts.test_texts += 1;
                counts.shared_texts += shared;
            }
        }
        counts
    }
}

/// Whether an entity has one text from two different sources.
fn two_sources(entity: &AuthorEntity) -> bool {
    let mut first: HashMap<usize, char> = HashMap::new();
    let texts = entity.items.iter().filter(|item| item.text != EMPTY_TEXT);
    let mut other = texts.filter(|item| {
        let source = *first.entry(item.text).or_insert(item.source);
        source != item.source
    });
    other.next().is_some()
}

/// The class that a text speaks for: that of most of the items which have it in any of the sets.
///
/// # Errors
/// [`ExperimentError::Data`].
pub fn spoken_for() -> Result<HashMap<usize, usize>, ExperimentError> {
    let mut counts: HashMap<usize, [usize; AUTHOR_CLASSES.len()]> = HashMap::new();
    // The main set is part of the large one.
    for data in [AuthorData::many()?, AuthorData::large()?] {
        for entity in &data.entities {
            for text in entity.texts() {
                counts.entry(text).or_default()[entity.label] += 1;
            }
        }
    }
    let most = |counts: [usize; AUTHOR_CLASSES.len()]| {
        let best = counts.iter().copied().max().unwrap_or(0);
        counts.iter().position(|&n| n == best).unwrap_or(0)
    };
    Ok(counts
        .into_iter()
        .map(|(text, n)| (text, most(n)))
        .collect())
}

/// Items with a text that speaks for another class than their entity's, and all items with a text.
pub fn contradicting(data: &AuthorData, spoken_for: &HashMap<usize, usize>) -> (usize, usize) {
    let mut found = (0, 0);
    for entity in &data.entities {
        for text in entity.texts() {
            found.0 += usize::from(spoken_for.get(&text) != Some(&entity.label));
            found.1 += 1;
        }
    }
    found
}

/// Pairs of items with a text, and those that have the same one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Pairs with the same text.
    pub same: u64,
    /// All pairs.
    pub all: u64,
}

/// Pairs of items of one entity, and pairs of items of different entities of the same class: were
/// items independent given the class, both would have the same text equally often.
pub fn same_text(data: &AuthorData) -> [Pairs; 2] {
    let pairs = |n: u64| n * n.saturating_sub(1) / 2;
    let count = |texts: &[usize]| {
        let mut counts: HashMap<usize, u64> = HashMap::new();
        for &text in texts {
            *counts.entry(text).or_default() += 1;
        }
        Pairs {
            same: counts.values().map(|&n| pairs(n)).sum(),
            all: pairs(texts.len() as u64),
        }
    };
    let mut by_class: [Vec<usize>; AUTHOR_CLASSES.len()] = Default::default();
    let mut within = Pairs::default();
    for entity in &data.entities {
        let texts: Vec<usize> = entity.texts().collect();
        let own = count(&texts);
        within.same += own.same;
        within.all += own.all;
        by_class[entity.label].extend(texts);
    }
    let mut between = Pairs::default();
    for texts in &by_class {
        let class = count(texts);
        between.same += class.same;
        between.all += class.all;
    }
    between.same -= within.same;
    between.all -= within.all;
    [within, between]
}

/// How often an interval misses the share at most.
const LEVEL: f64 = 0.01;

/// What is said of such data, and what they are.
fn judged_table() -> Result<Table, ExperimentError> {
    let mut table = Table::new(
        "data.judged",
        format!(
            "What theory, experiments and generator say of the data, against the data. Shares have \
             Clopper–Pearson intervals at level {LEVEL}"
        ),
    );
    let (main, large) = (AuthorData::main()?, AuthorData::large()?);
    let (m, l) = (Counts::of(&main), Counts::of(&large));
    let mut row = |what: &str, said: f64, n: u64, of: u64| -> Result<(), ExperimentError> {
        let (low, high) = clopper_pearson(n, of, LEVEL)?;
        let stands = low <= said && said <= high;
        table.row([
            ("statement", Cell::text(what)),
            ("said", Cell::number(said, 4)),
            ("counted", Cell::number(n as f64 / of as f64, 4)),
            ("at least", Cell::number(low, 4)),
            ("at most", Cell::number(high, 4)),
            ("n", Cell::number(of as f64, 0)),
            (
                "verdict",
                Cell::text(if stands { "stands" } else { "fails" }),
            ),
        ]);
        Ok(())
    };
    let share = |n: usize, of: usize| (n as u64, of as u64);
    let [within, between] = same_text(&main);
    row(
        "A1: two items of an entity have the same text as often as two of different entities of its \
         class (main)",
        between.same as f64 / between.all as f64,
        within.same,
        within.all,
    )?;
    let (n, of) = share(m.repeating, m.entities);
    row(
        "items of an entity are different pieces of evidence (main)",
        0.0,
        n,
        of,
    )?;
    let (n, of) = share(m.empty, m.items);
    row("every item says something (main)", 0.0, n, of)?;
    let (n, of) = share(l.shared_texts, l.test_texts);
    row("T3: the texts of the test part are new (large)", 0.0, n, of)?;
    for (class, said) in [0.2, 0.5, 0.3].into_iter().enumerate() {
        let what = format!(
            "generator: share of class {} (large)",
            AUTHOR_CLASSES[class]
        );
        let (n, of) = share(l.classes[class], l.entities);
        row(&what, said, n, of)?;
    }
    let (n, of) = contradicting(&large, &spoken_for()?);
    row(
        "generator: share of texts that speak against their entity (large)",
        0.05,
        n as u64,
        of as u64,
    )?;
    Ok(table)
}

fn counts_table() -> Result<Table, ExperimentError> {
    let mut table = Table::new(
        "data.counts",
        "What the author's generator makes, counted. A text contradicts where most entities that \
         have it are of another class",
    );
    let sets = [
        AuthorData::main()?,
        AuthorData::many()?,
        AuthorData::large()?,
    ];
    let counts = sets.each_ref().map(Counts::of);
    let spoken_for = spoken_for()?;
    let against = sets.each_ref().map(|set| contradicting(set, &spoken_for));
    let mut row = |what: &str, value: &dyn Fn(&Counts, (usize, usize)) -> Cell| {
        let mut cells = vec![("counted", Cell::text(what))];
        for (i, name) in ["main", "many", "large"].into_iter().enumerate() {
            cells.push((name, value(&counts[i], against[i])));
        }
        table.row(cells);
    };
    let share = |n: usize, of: usize| Cell::number(n as f64 / of as f64, 4);
    row("entities", &|c, _| Cell::count(c.entities));
    row("items", &|c, _| Cell::count(c.items));
    row("different texts, the empty one included", &|c, _| {
        Cell::count(c.texts)
    });
    row("entities that have a text more than once", &|c, _| {
        Cell::count(c.repeating)
    });
    row("… and have it from two different sources", &|c, _| {
        Cell::count(c.from_two_sources)
    });
    row(
        "different texts an entity, the empty one included",
        &|c, _| share(c.distinct, c.entities),
    );
    row("share of items without text", &|c, _| {
        share(c.empty, c.items)
    });
    row("share of texts that contradict", &|_, a| share(a.0, a.1));
    row(
        "share of test items whose text occurs in training",
        &|c, _| share(c.shared, c.test_items),
    );
    row("… of those with a text", &|c, _| {
        share(c.shared_texts, c.test_texts)
    });
    for (class, name) in AUTHOR_CLASSES.iter().enumerate() {
        row(&format!("share of class {name}"), &|c, _| {
            share(c.classes[class], c.entities)
        });
    }
    Ok(table)
}

/// How many different texts there are among the first `K` items.
fn distinct_table() -> Result<Table, ExperimentError> {
    let mut table = Table::new(
        "data.distinct",
        "Different texts among the first K of an entity's 20 items, mean over 300 entities",
    );
    let many = AuthorData::many()?;
    let with_text = |e: &AuthorEntity, count: usize| {
        let first = e
            .items
            .iter()
            .take(count)
            .map(|item: &AuthorItem| item.text);
        let texts: HashSet<usize> = first.filter(|&t| t != EMPTY_TEXT).collect();
        texts.len() as f64
    };
    for count in [1, 2, 3, 5, 7, 10, 15, 20] {
        let all = many.entities.iter();
        let any = mean(all.clone().map(|e| e.distinct(count) as f64));
        let texts = mean(all.map(|e| with_text(e, count)));
        table.row([
            ("K", Cell::count(count)),
            ("different, the empty one included", Cell::number(any, 2)),
            ("different texts", Cell::number(texts, 2)),
        ]);
    }
    Ok(table)
}

/// What is measured in each variant of the data.
struct Measured {
    ece: Vec<f64>,
    accuracy: Vec<f64>,
    /// Mean log loss of learned aggregation on the training and the test part, in nats.
    losses: [f64; 2],
    correlation: f64,
    p: f64,
    items: f64,
}

const SPN: Contender = Contender::Method(Method::Spn);
const LEARNED: Contender = Contender::Method(Method::Learned);
const CONTENDERS: [Contender; 4] = [
    SPN,
    LEARNED,
    Contender::Method(Method::Uniform),
    Contender::Method(Method::PriorCorrected),
];

fn measure(trained: &Trained, data: &AuthorData) -> Result<Measured, ExperimentError> {
    let part = |part| trained.author_entities(data.part(part));
    let (training, test) = (part(Part::Training)?, part(Part::Test)?);
    let loss = |entities: &[TestEntity]| -> Result<f64, ExperimentError> {
        Ok(trained.evaluate(LEARNED, entities)?.log_loss()?)
    };
    let (mut ece, mut accuracy) = (Vec::new(), Vec::new());
    for contender in CONTENDERS {
        let judged = trained.evaluate(contender, &test)?;
        ece.push(judged.ece()?);
        accuracy.push(judged.accuracy()?);
    }
    let factors: Vec<_> = test
        .iter()
        .flat_map(|e| e.evidence.factors.clone())
        .collect();
    let mut offsets = vec![0];
    for entity in &test {
        offsets.push(offsets[offsets.len() - 1] + entity.evidence.factors.len());
    }
    let labels: Vec<usize> = test.iter().map(|e| e.label).collect();
    let test_of_independence = IndependenceTest {
        seed: trained.seed,
        ..IndependenceTest::default()
    };
    let found = independence(
        &Items::new(&factors, &offsets)?,
        &labels,
        &test_of_independence,
    )?;
    Ok(Measured {
        ece,
        accuracy,
        losses: [loss(&training)?, loss(&test)?],
        correlation: found.correlation.unwrap_or(f64::NAN),
        p: found.smallest_p().unwrap_or(f64::NAN),
        items: factors.len() as f64 / test.len() as f64,
    })
}

/// Name of a row, its digits, and its value in a run.
type Row = (String, u8, Box<dyn Fn(&Measured) -> f64>);

fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = vec![(
        "items of a test entity".to_owned(),
        2,
        Box::new(|m| m.items),
    )];
    for (i, contender) in CONTENDERS.iter().enumerate() {
        let name = contender.name();
        rows.push((format!("ECE of {name}"), 4, Box::new(move |m| m.ece[i])));
        rows.push((
            format!("accuracy of {name}"),
            4,
            Box::new(move |m| m.accuracy[i]),
        ));
    }
    let nats = |what: &str| format!("{what} of learned aggregation (nats)");
    rows.push((nats("training loss"), 4, Box::new(|m| m.losses[0])));
    rows.push((nats("test loss"), 4, Box::new(|m| m.losses[1])));
    rows.push((nats("gap"), 4, Box::new(|m| m.losses[1] - m.losses[0])));
    let given = "correlation of an entity's items, given the class";
    rows.push((given.to_owned(), 4, Box::new(|m| m.correlation)));
    rows.push((
        "smallest p of the classes, Holm".to_owned(),
        4,
        Box::new(|m| m.p),
    ));
    rows
}

/// The name of a variant in tables.
fn name(variant: Variant) -> &'static str {
    match variant {
        Variant::AsTheyAre => "as they are",
        Variant::Merged => "each text once an entity",
        Variant::Apart => "no text shared with training",
    }
}

fn run(lab: &Lab, progress: &dyn Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(Variant::ALL.len() as u64);
    let mut measured = Vec::new();
    let mut training = Vec::new();
    for variant in Variant::ALL {
        let data = lab.author_data(variant)?;
        let models = lab.author(variant)?;
        let runs = models.iter().map(|trained| measure(trained, &data));
        measured.push(runs.collect::<Result<Vec<Measured>, ExperimentError>>()?);
        training.push(data.part(Part::Training).count());
        progress.step(name(variant));
    }
    let mut table = Table::new(
        "data.variants",
        "The main set as it is; with each text once an entity; and without the entities for training \
         that share a text with the test part. Models are trained anew on each; ± is the standard \
         deviation of one model",
    );
    let count = |n: &usize| Cell::count(*n);
    let trained_on = Variant::ALL.iter().zip(&training);
    let trained_on = trained_on.map(|(&variant, n)| (name(variant), count(n)));
    table.row(
        [("quantity", Cell::text("entities for training"))]
            .into_iter()
            .chain(trained_on),
    );
    let over = |variant: usize, row: &Row| Summary::of(measured[variant].iter().map(&row.2));
    for row in rows() {
        let cells = Variant::ALL.iter().enumerate();
        let cells = cells.map(|(i, &variant)| (name(variant), over(i, &row).cell(row.1)));
        table.row([("quantity", Cell::text(&row.0))].into_iter().chain(cells));
    }
    let settings = lab.described(&[]);
    let mut outcome = EXPERIMENT.outcome(settings, sentence(&measured)?);
    outcome.tables = vec![judged_table()?, counts_table()?, distinct_table()?, table];
    Ok(outcome)
}

fn sentence(measured: &[Vec<Measured>]) -> Result<String, ExperimentError> {
    let (main, large) = (AuthorData::main()?, AuthorData::large()?);
    let (m, l) = (Counts::of(&main), Counts::of(&large));
    let (wrong, texts) = contradicting(&large, &spoken_for()?);
    let percent = |n: usize, of: usize| 100.0 * n as f64 / of as f64;
    let mean_of = |variant: usize, f: fn(&Measured) -> f64| mean(measured[variant].iter().map(f));
    let gap = |variant| mean_of(variant, |m| m.losses[1] - m.losses[0]);
    let accuracy = |variant| mean_of(variant, |m| m.accuracy[1]);
    Ok(format!(
        "{} of {} entities of the main set have the same text more than once, {} of them from two \
         different sources: their items are not independent given the class, whatever a model makes \
         of them. {:.1} % of all items have no text. {:.1} % of the test items of the large set have \
         a text that occurs in training, so that its gap between training and test does not measure \
         generalization to new evidence: on the main set the gap of learned aggregation is {:.4} nats \
         at an accuracy of {:.3}, and {:.4} nats at {:.3} where no text is shared. {:.1} % of the \
         texts of the large set speak against their entity's class.",
        m.repeating,
        m.entities,
        m.from_two_sources,
        percent(m.empty, m.items),
        percent(l.shared, l.test_items),
        gap(0),
        accuracy(0),
        gap(2),
        accuracy(2),
        percent(wrong, texts),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted independently of this program, with Python's `collections`.
    #[test]
    fn counts_are_those_of_another_program() {
        let main = Counts::of(&AuthorData::main().unwrap());
        assert_eq!(
            (main.texts, main.repeating, main.distinct),
            (1257, 690, 3082)
        );
        assert_eq!((main.empty, main.items), (1101, 4500));
        assert_eq!(main.classes, [182, 456, 262]);
        assert_eq!((main.shared, main.test_items), (493, 675));
        let many = Counts::of(&AuthorData::many().unwrap());
        assert_eq!(
            (many.texts, many.repeating, many.distinct),
            (906, 300, 1669)
        );
        let large = Counts::of(&AuthorData::large().unwrap());
        assert_eq!(
            (large.texts, large.repeating, large.distinct),
            (1728, 4408, 20_774)
        );
        assert_eq!((large.shared, large.test_items), (4483, 4500));
    }

    #[test]
    fn pairs_of_one_entity_and_of_one_class_are_told_apart() {
        let lines = "low train a1 n1 f2 s0\nlow test a1 n3\nhigh train a1 n1\n";
        let data = AuthorData::parse("by hand", lines).unwrap();
        // Within: 1-1 of {11, 12, 12}, none of {13}, 1-1 of {11}. Between: 11 and 11 of six.
        let [within, between] = same_text(&data);
        assert_eq!((within.same, within.all), (2, 5));
        assert_eq!((between.same, between.all), (2, 6));
    }

    #[test]
    fn a_text_that_two_sources_give_is_found() {
        let entity = |items: &[(char, usize)]| AuthorEntity {
            name: "C1".into(),
            label: 0,
            part: Part::Test,
            items: items
                .iter()
                .map(|&(source, text)| AuthorItem { source, text })
                .collect(),
        };
        assert!(two_sources(&entity(&[('a', 3), ('n', 3)])));
        assert!(!two_sources(&entity(&[('a', 3), ('a', 3), ('n', 4)])));
        assert!(!two_sources(&entity(&[('a', 0), ('s', 0)])));
    }
}
