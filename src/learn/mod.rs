//! Small networks, their gradients, and the training of encoder, decoder and aggregator.
