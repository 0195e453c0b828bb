"""Trains the same network on the same data with lpf and with PyTorch, on one thread; prints both times."""

import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LPF = pathlib.Path(os.environ.get("LPF", ROOT / "target/release/lpf"))
EPOCHS = int(os.environ.get("EPOCHS", "50"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
}


def read(path):
    """Training and validation items as lpf splits them: 70 and 15 % of the entities; which ones
    they are does not change the time."""
    import torch

    entities = [json.loads(line) for line in open(path)]
    classes = entities[0]["classes"]
    held_out = len(entities) * 15 // 100
    training = len(entities) - 2 * held_out

    def items(part):
        rows = [item["embedding"] for entity in part for item in entity["evidence"]]
        labels = [classes.index(entity["label"]) for entity in part for _ in entity["evidence"]]
        return torch.tensor(rows), torch.tensor(labels)

    return items(entities[:training]), items(entities[training : training + held_out])


def network():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            drop = lambda: nn.Dropout(0.1)
            self.trunk = nn.Sequential(
                nn.Linear(384, 256), nn.ReLU(), drop(), nn.Linear(256, 128), nn.ReLU(), drop()
            )
            self.mean = nn.Linear(128, 64)
            self.spread = nn.Linear(128, 64)
            self.predicate = nn.Embedding(1, 32)
            self.decoder = nn.Sequential(
                nn.Linear(96, 128), nn.ReLU(), drop(), nn.Linear(128, 64), nn.ReLU(), drop(), nn.Linear(64, 3)
            )
            for layer in self.modules():
                if isinstance(layer, nn.Linear):
                    nn.init.xavier_uniform_(layer.weight)
                    nn.init.zeros_(layer.bias)

        def forward(self, x):
            h = self.trunk(x)
            mean, sigma = self.mean(h), nn.functional.softplus(self.spread(h)) + 1e-6
            z = mean + sigma * torch.randn_like(sigma) if self.training else mean
            predicate = self.predicate(torch.zeros(len(x), dtype=torch.long))
            return mean, sigma, self.decoder(torch.cat([z, predicate], 1))

    return Net()


def train_torch(data):
    """Wall and processor seconds of the training loop, and the last validation loss."""
    import torch
    import torch.nn.functional as F

    (x, y), (vx, vy) = data
    torch.manual_seed(1)
    net = network()
    adam = torch.optim.Adam(net.parameters(), 1e-3)

    def loss(inputs, labels):
        mean, sigma, scores = net(inputs)
        kl = 0.5 * (mean * mean + sigma * sigma - 1).sum(1) - sigma.log().sum(1)
        return F.cross_entropy(scores, labels) + 0.01 * kl.mean()

    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(EPOCHS):
        net.train()
        order = torch.randperm(len(x))
        for first in range(0, len(x), 64):
            rows = order[first : first + 64]
            adam.zero_grad()
            loss(x[rows], y[rows]).backward()
            adam.step()
        net.eval()
        with torch.no_grad():
            last = loss(vx, vy).item()
    return time.perf_counter() - wall, time.process_time() - cpu, last


def train_lpf(folder, data, name, epochs=EPOCHS, hidden=0, threads="1"):
    """Wall and processor seconds of a whole `lpf train`, and the bytes of the model."""
    output = folder / name
    command = [LPF, "train", "--data", data, "--output", output, "--epochs", str(epochs)]
    command += ["--patience", str(max(epochs, 1)), "--hidden", str(hidden)]
    before = os.times()
    wall = time.perf_counter()
    environment = {**os.environ, **ONE_THREAD, "RAYON_NUM_THREADS": threads}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    wall = time.perf_counter() - wall
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu, output.read_bytes()


def main():
    os.environ.update(ONE_THREAD)
    import torch

    torch.set_num_threads(1)
    version = subprocess.run([LPF, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    print(f"{version}; PyTorch {torch.__version__}; Python {platform.python_version()}; {platform.machine()}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        path = folder / "data.jsonl"
        subprocess.run([LPF, "generate", "compliance", "--entities", "900", "--output", path], check=True)
        data = read(path)
        ours, theirs = [], []
        for _ in range(ROUNDS):
            # Reading the records is no part of training: a run of one epoch is subtracted, which
            # has it too.
            one = train_lpf(folder, path, "one", epochs=1)
            many = train_lpf(folder, path, "many")
            scale = EPOCHS / max(EPOCHS - 1, 1)
            ours.append([(b - a) * scale for a, b in zip(one[:2], many[:2])])
            theirs.append(train_torch(data))
        print(f"PyTorch's last validation loss: {theirs[-1][2]:.4f}")
        for kind, at in (("wall", 0), ("processor", 1)):
            a, b = min(o[at] for o in ours), min(t[at] for t in theirs)
            print(f"{kind:>9} seconds for {EPOCHS} epochs: lpf {a:.2f}, PyTorch {b:.2f}, ratio {a / b:.3f}")
        first = train_lpf(folder, path, "a", epochs=3, hidden=16)[2]
        again = train_lpf(folder, path, "b", epochs=3, hidden=16)[2]
        threads = train_lpf(folder, path, "c", epochs=3, hidden=16, threads="2")[2]
        print("same bytes again:", first == again, "- and with two threads:", first == threads)
        wall, cpu, _ = train_lpf(folder, path, "d", hidden=16)
        print(f"whole command with aggregator: {wall:.2f} s wall, {cpu:.2f} s processor")
        return 0 if first == again == threads else 1


if __name__ == "__main__":
    sys.exit(main())
