"use strict";
// Draws the pictures, lets the timeline be zoomed without a mouse, and opens folds for the printer.
(() => {
  const specs = JSON.parse(document.getElementById("specs").textContent);
  const config = {
    view: { stroke: null },
    axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" },
    font: "system-ui, sans-serif",
  };
  const options = {
    renderer: "svg", actions: false, config,
    tooltip: { disableDefaultStyle: true },
  };

  const zoomable = (place, view, whole) => {
    const signal = "view_start_ms";
    const steps = {
      in: ([a, b]) => [a + (b - a) / 4, b - (b - a) / 4],
      out: ([a, b]) => [a - (b - a) / 2, b + (b - a) / 2],
      left: ([a, b]) => [a - (b - a) / 4, b - (b - a) / 4],
      right: ([a, b]) => [a + (b - a) / 4, b + (b - a) / 4],
      all: () => whole,
    };
    const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all" };
    const zoom = (step) => {
      const [from, to] = steps[step](view.signal(signal) || whole);
      const width = Math.min(to - from, whole[1] - whole[0]);
      const start = Math.max(whole[0], Math.min(from, whole[1] - width));
      return view.signal(signal, [start, start + width]).runAsync();
    };
    for (const button of place.closest("figure").querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => zoom(button.dataset.zoom));
    }
    place.addEventListener("keydown", (event) => {
      if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        zoom(keys[event.key]);
      }
    });
  };

  const draw = async (name) => {
    const place = document.getElementById(`chart-${name}`);
    const { view } = await vegaEmbed(place, specs[name], options);
    // the place says in words what it shows: that is what a screen reader gets
    place.querySelector("svg").setAttribute("aria-hidden", "true");
    if (place.dataset.zoomed !== undefined) {
      zoomable(place, view, specs[name].encoding.x.scale.domain);
    }
  };

  Promise.all(Object.keys(specs).map(draw)).then(
    () => document.body.classList.add("drawn"),
    (error) => console.error(error),
  );

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const each of folded) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of folded) each.open = false;
  });
})();
