// SPDX-License-Identifier: Apache-2.0
"use strict";

const most = Number(document.body.dataset.readings), readings = [], state = document.getElementById("state");
const width = 600, height = 160, edge = 8;

// A line through the last values, from the lowest at the bottom to the highest at the top.
function draw(name, unit) {
  const values = readings.map(one => one[name]), low = Math.min(...values), high = Math.max(...values);
  const x = at => edge + (width - 2 * edge) * at / Math.max(values.length - 1, 1);
  const y = value => height - edge - (height - 2 * edge) * (high > low ? (value - low) / (high - low) : .5);
  document.getElementById(name).value = `${values.at(-1)} ${unit} (${low} to ${high})`;
  document.getElementById(name + "-line").setAttribute("points", values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" "));
}

const events = new EventSource("events");
events.onmessage = event => {
  readings.push(JSON.parse(event.data));
  readings.splice(0, readings.length - most);
  draw("celsius", "\u00b0C");
  draw("humidity", "%");
  state.textContent = `${readings.length} readings`;
};
events.onopen = () => { state.textContent = "Connected"; };
events.onerror = () => { state.textContent = "Connecting again"; };
