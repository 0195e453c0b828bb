//! A sum-product network: built, asked for marginals and the most probable explanation, sampled.

use lpf::latent::random::Stream;
use lpf::spn::{Builder, Compiled, Evidence, Workspace};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two kinds of days; variable 0 is the sky (clear, cloudy), variable 1 the ground (dry, wet).
    let mut builder = Builder::new(&[2, 2])?;
    let sunny = [builder.leaf(0, &[0.9, 0.1])?, builder.leaf(1, &[0.8, 0.2])?];
    let rainy = [builder.leaf(0, &[0.2, 0.8])?, builder.leaf(1, &[0.3, 0.7])?];
    let (sunny, rainy) = (builder.product(&sunny)?, builder.product(&rainy)?);
    let root = builder.sum(&[(sunny, 0.6), (rainy, 0.4)])?;
    // A network that is not complete and decomposable is refused here, with the nodes named.
    let network = Compiled::new(builder.build(root)?);

    let mut workspace = Workspace::new();
    let mut wet = Evidence::none(network.network());
    wet.observe(1, 1)?;
    let marginals = network.marginals(&wet, &mut workspace)?;
    println!("P(sky | wet) = {:.3?}", marginals.probabilities(0));

    let best = network.most_probable(&wet, 100, &mut workspace)?;
    println!(
        "most probable: {:?}, exact: {}",
        best.assignment, best.exact
    );

    let mut rng = Stream::new(1, 0, 0, 0); // or any other generator of the rand crate
    let mut sampler = network.sampler(&wet, &mut workspace)?;
    let mut day = Vec::new();
    for _ in 0..3 {
        sampler.draw(&mut rng, &mut day);
        println!("a wet day: {day:?}");
    }
    Ok(())
}
