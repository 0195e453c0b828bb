// Everything that is wrong with the page in sight: text that is hard to read, a page wider than its
// window, and what a reader without eyes or mouse would miss.
(function () {
  var found = [];
  function say(what, element) {
    var text = (element.textContent || "").trim().slice(0, 40);
    found.push(what + ": <" + element.localName + " class=\"" + element.getAttribute("class") + "\"> " + text);
  }
  [].forEach.call(document.querySelectorAll("details"), function (one) { one.open = true; });

  // Contrast as WCAG 2.1 defines it, of every text that is shown.
  function parts(colour) {
    var m = colour.match(/[\d.]+/g).map(Number);
    return { r: m[0], g: m[1], b: m[2], a: m.length > 3 ? m[3] : 1 };
  }
  function over(top, bottom) {
    function mix(x) { return top[x] * top.a + bottom[x] * (1 - top.a); }
    return { r: mix("r"), g: mix("g"), b: mix("b"), a: 1 };
  }
  function luminance(c) {
    return [c.r, c.g, c.b].map(function (x) {
      x /= 255;
      return x <= 0.04045 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4);
    }).reduce(function (sum, x, i) { return sum + x * [0.2126, 0.7152, 0.0722][i]; }, 0);
  }
  var grounds = new Map();
  function ground(element) {
    if (!element) return { r: 255, g: 255, b: 255, a: 1 };
    if (!grounds.has(element)) {
      var own = parts(getComputedStyle(element).backgroundColor);
      grounds.set(element, own.a === 1 ? own : over(own, ground(element.parentElement)));
    }
    return grounds.get(element);
  }
  var texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), node, seen = new Set(), checked = 0;
  while ((node = texts.nextNode())) {
    var element = node.parentElement;
    if (!node.data.trim() || seen.has(element) || /^(script|style|option)$/.test(element.localName)) continue;
    seen.add(element);
    if (!element.checkVisibility()) continue;
    var drawn = element.closest("svg"), style = getComputedStyle(element);
    var behind = drawn ? parts(getComputedStyle(drawn.querySelector("rect")).fill) : ground(element);
    var ink = over(parts(drawn ? style.fill : style.color), behind);
    var a = luminance(ink), b = luminance(behind);
    var ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    checked += 1;
    if (ratio < 4.5) say("contrast " + ratio.toFixed(2), element);
  }
  if (!checked) found.push("no text at all");

  // Sideways scrolling: of the page, and of text that has no frame of its own to scroll in.
  var wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) {
    found.push("page " + document.documentElement.scrollWidth + " wide in a window of " + wide);
    [].forEach.call(document.querySelectorAll("main *"), function (one) {
      if (one.getBoundingClientRect().right > wide + 1 && !one.closest(".scroll,svg,pre") && found.length < 20) say("too wide", one);
    });
  }

  // Words squeezed into a column of letters.
  [].forEach.call(document.querySelectorAll("td,th,dd,summary span"), function (one) {
    var longest = Math.max.apply(null, one.textContent.split(/\s+/).map(function (w) { return w.length; }));
    if (one.checkVisibility() && longest > 4 && one.clientWidth && one.clientWidth < 24) say("squeezed", one);
  });

  // Names for those who listen, order for those who skip.
  [].forEach.call(document.querySelectorAll("input,select"), function (one) {
    if (!one.closest("label") && !one.getAttribute("aria-label")) say("no label", one);
  });
  [].forEach.call(document.querySelectorAll("svg"), function (one) {
    if (!one.getAttribute("aria-label")) say("no text for a figure", one);
  });
  [].forEach.call(document.querySelectorAll("summary,a,button"), function (one) {
    if (!one.textContent.trim()) say("nothing to read", one);
  });
  var level = 1;
  [].forEach.call(document.querySelectorAll("h1,h2,h3,h4"), function (one) {
    var now = Number(one.localName.slice(1));
    if (now > level + 1) say("a heading is skipped", one);
    level = now;
  });
  if (!document.documentElement.lang) found.push("no language");
  return found;
})()
