// Filters entries, and opens the one that the address names. Everything is readable without it.
(function () {
  var doc = document, form = doc.getElementById("filter");
  var entries = [].slice.call(doc.querySelectorAll("details.entry"));
  var fields = form ? [].slice.call(form.querySelectorAll("input,select")) : [];
  function fits(entry, field) {
    var value = field.value.trim().toLowerCase();
    if (!value) return true;
    if (field.name !== "text") {
      return (" " + entry.getAttribute("data-" + field.name) + " ").toLowerCase().indexOf(" " + value + " ") >= 0;
    }
    entry.words = entry.words || entry.textContent.toLowerCase();
    return value.split(/\s+/).every(function (word) { return entry.words.indexOf(word) >= 0; });
  }
  function apply() {
    if (!form) return;
    var shown = 0;
    entries.forEach(function (entry) {
      entry.hidden = !fields.every(function (field) { return fits(entry, field); });
      shown += entry.hidden ? 0 : 1;
    });
    [].forEach.call(doc.querySelectorAll(".group"), function (group) {
      group.hidden = !group.querySelector("details.entry:not([hidden])");
    });
    form.querySelector("output").textContent = shown + " of " + entries.length + " shown";
  }
  function set(values) {
    fields.forEach(function (field) { field.value = values[field.name] || ""; });
    apply();
  }
  function route() {
    var name = decodeURIComponent(location.hash.slice(1)), at = name.indexOf("?");
    if (form && at >= 0) {
      var values = {};
      new URLSearchParams(name.slice(at + 1)).forEach(function (value, key) { values[key] = value; });
      set(values);
      form.scrollIntoView();
      return;
    }
    if (form && name.indexOf("verdict-") === 0) {
      set({ verdict: name.slice(8) });
      form.scrollIntoView();
      return;
    }
    var target = name && doc.getElementById(name);
    if (!target) return;
    for (var node = target; node; node = node.parentElement) {
      if (node.localName === "details") node.open = true;
      if (node.hidden) set({});
    }
    var entry = target.parentElement.closest("details.entry");
    (entry || target).scrollIntoView();
    if (entry) entry.querySelector("summary").focus({ preventScroll: true });
  }
  if (form) {
    form.hidden = false;
    form.addEventListener("input", function () {
      apply();
      var query = new URLSearchParams();
      fields.forEach(function (field) { if (field.value) query.set(field.name, field.value); });
      history.replaceState(null, "", "#claims?" + query);
    });
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    form.querySelector("button").addEventListener("click", function () {
      set({});
      history.replaceState(null, "", "#claims");
    });
    apply();
  }
  addEventListener("hashchange", route);
  if (location.hash) route();
})();
