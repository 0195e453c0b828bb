//! Headless Chromium, driven by its DevTools protocol over two pipes: no port, no further crate.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// How long an answer may take, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running browser with one open page.
pub struct Browser {
    child: Child,
    commands: File,
    messages: Receiver<Value>,
    events: VecDeque<Value>,
    next: u64,
    session: Option<String>,
    _folder: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended already; there is nothing to do about it then.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Browser {
    /// Starts Chromium. Where there is none, says so, or fails if `LPF_BROWSER=required`.
    pub fn start() -> Option<Browser> {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let found = names
            .into_iter()
            .find(|name| Command::new(name).arg("--version").output().is_ok());
        let Some(name) = found else {
            let required = std::env::var_os("LPF_BROWSER").is_some_and(|v| v == "required");
            assert!(
                !required,
                "no Chromium here, and LPF_BROWSER=required: `make chromium-setup`"
            );
            eprintln!("NOT RUN: no Chromium on this machine, so no page was opened in a browser");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let pipes = ["in", "out"].map(|name| folder.path().join(name));
        assert!(
            Command::new("mkfifo")
                .args(&pipes)
                .status()
                .unwrap()
                .success()
        );
        // Chromium reads commands from descriptor 3 and answers on 4.
        let child = Command::new("sh")
            .args([
                "-c",
                "exec \"$0\" \"$@\" 3<\"$LPF_IN\" 4>\"$LPF_OUT\"",
                name,
            ])
            .args([
                "--headless",
                "--remote-debugging-pipe",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
            ])
            .arg(format!(
                "--user-data-dir={}",
                folder.path().join("profile").display()
            ))
            .env("LPF_IN", &pipes[0])
            .env("LPF_OUT", &pipes[1])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let commands = OpenOptions::new().write(true).open(&pipes[0]).unwrap();
        let answers = File::open(&pipes[1]).unwrap();
        let (sender, messages) = channel();
        thread::spawn(move || {
            for message in BufReader::new(answers).split(0) {
                let Ok(message) = message else { return };
                let Ok(value) = serde_json::from_slice(&message) else {
                    return;
                };
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Some(Browser {
            child,
            commands,
            messages,
            events: VecDeque::new(),
            next: 1,
            session: None,
            _folder: folder,
        })
    }

    fn receive(&mut self) -> Value {
        self.messages
            .recv_timeout(PATIENCE)
            .expect("Chromium does not answer")
    }

    /// Calls a method of the protocol and returns its result.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        let mut command = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).unwrap();
        loop {
            let message = self.receive();
            if message["id"] == json!(id) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.events.push_back(message);
        }
    }

    /// Opens a page of this width in one colour scheme, in place of the one before.
    pub fn open(&mut self, file: &Path, fragment: &str, width: u32, scheme: &str) {
        if self.session.is_none() {
            let target = self.call("Target.createTarget", json!({ "url": "about:blank" }));
            let id = &target["targetId"];
            let attach = json!({ "targetId": id, "flatten": true });
            let session = self.call("Target.attachToTarget", attach);
            self.session = session["sessionId"].as_str().map(str::to_owned);
            for domain in ["Runtime", "Log", "Page", "Network"] {
                self.call(&format!("{domain}.enable"), json!({}));
            }
        }
        let blank = json!({ "url": "about:blank" });
        self.navigate(blank);
        self.events.clear();
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let feature = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": feature }));
        let url = format!("file://{}{fragment}", file.display());
        self.navigate(json!({ "url": url }));
    }

    fn navigate(&mut self, to: Value) {
        self.events
            .retain(|event| event["method"] != "Page.loadEventFired");
        self.call("Page.navigate", to);
        while !self
            .events
            .iter()
            .any(|event| event["method"] == "Page.loadEventFired")
        {
            let message = self.receive();
            self.events.push_back(message);
        }
    }

    /// The value of an expression in the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", params);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["keyDown", "keyUp"] {
            let text = if key == "Enter" { "\r" } else { "" };
            let event = json!({ "type": kind, "key": key, "code": key, "text": text, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// What the page wrote to the console, what it threw, and what it asked the network for.
    pub fn complaints(&mut self) -> Vec<String> {
        // An answer comes after all that happened before.
        self.evaluate("0");
        let told = |event: &Value| {
            let params = &event["params"];
            let address = params["request"]["url"].as_str().unwrap_or("file:");
            match event["method"].as_str()? {
                "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded" => {
                    Some(format!("console: {params}"))
                }
                "Network.requestWillBeSent"
                    if !["file:", "data:", "about:"]
                        .iter()
                        .any(|own| address.starts_with(own)) =>
                {
                    Some(format!("network: {address}"))
                }
                _ => None,
            }
        };
        self.events.iter().filter_map(told).collect()
    }

    /// The page on paper, A4.
    pub fn print(&mut self) -> Vec<u8> {
        let paper = json!({ "paperWidth": 8.27, "paperHeight": 11.69, "printBackground": false, "preferCSSPageSize": true });
        let answer = self.call("Page.printToPDF", paper);
        decode(answer["data"].as_str().unwrap())
    }

    /// A picture of what is in sight.
    pub fn picture(&mut self) -> Vec<u8> {
        let answer = self.call("Page.captureScreenshot", json!({}));
        decode(answer["data"].as_str().unwrap())
    }
}

/// Base64, which the protocol wraps files in.
fn decode(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => u32::from(c - b'A'),
        b'a'..=b'z' => u32::from(c - b'a') + 26,
        b'0'..=b'9' => u32::from(c - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let bytes = text.trim_end_matches('=').as_bytes();
    let four = bytes.chunks(4).flat_map(|chunk| {
        let bits = chunk.iter().fold(0, |bits, &c| bits << 6 | value(c));
        let bits = bits << (6 * (4 - chunk.len()));
        bits.to_be_bytes()[1..chunk.len()].to_vec()
    });
    four.collect()
}

#[test]
fn base64_is_read() {
    // The test vectors of RFC 4648.
    for (text, want) in [
        ("", ""),
        ("Zg==", "f"),
        ("Zm8=", "fo"),
        ("Zm9v", "foo"),
        ("Zm9vYmFy", "foobar"),
    ] {
        assert_eq!(decode(text), want.as_bytes());
    }
}
