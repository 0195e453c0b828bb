//! Which pieces of impossible evidence contradict each other.

use super::compiled::{Compiled, Workspace};
use super::evidence::{Evidence, Known};
use super::query::QueryError;

/// How many members of a conflict are singled out before the rest is reported as it is. Each
/// takes as many evaluations as the number of variables has bits.
const MEMBERS: usize = 16;

/// An irreducible set of variables whose evidence is impossible together.
///
/// Evidence rules assignments out and never in, so impossibility is monotone in the set of
/// variables: the shortest impossible prefix of a list ends in a member of a conflict, and
/// bisection finds it. Repeating that with the members found put in front gives the others.
pub(super) fn explain(
    compiled: &Compiled,
    evidence: &Evidence,
    workspace: &mut Workspace,
) -> QueryError {
    let known: Vec<usize> = (0..compiled.network().variables())
        .filter(|&v| evidence.about(v) != Known::Nothing)
        .collect();
    let mut impossible = |members: &[usize], prefix: &[usize]| {
        let mut kept = Evidence::none(compiled.network());
        for &variable in members.iter().chain(prefix) {
            kept.copy(variable, evidence);
        }
        compiled.upward(&kept, workspace).is_zero()
    };
    let mut members: Vec<usize> = Vec::new();
    let mut rest = &known[..];
    let mut irreducible = true;
    while !impossible(&members, &[]) {
        if members.len() == MEMBERS {
            members.extend(rest);
            irreducible = false;
            break;
        }
        // Invariant: impossible with `rest[..high]`, possible with `rest[..low]`.
        let (mut low, mut high) = (0, rest.len());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if impossible(&members, &rest[..middle]) {
                high = middle;
            } else {
                low = middle;
            }
        }
        let Some((&member, before)) = rest[..high].split_last() else {
            break;
        };
        members.push(member);
        rest = before;
    }
    members.sort_unstable();
    QueryError::Impossible {
        variables: members,
        irreducible,
    }
}
