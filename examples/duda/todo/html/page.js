// SPDX-License-Identifier: Apache-2.0
"use strict";

async function ask(item, method, body) {
  await fetch("api/items/" + item.dataset.id, {method, headers: {"Content-Type": "application/json"}, body: body && JSON.stringify(body)});
  location.reload();
}

for (const item of document.querySelectorAll("li")) {
  item.querySelector("input").onchange = event => ask(item, "PATCH", {done: event.target.checked});
  item.querySelector("button").onclick = () => ask(item, "DELETE");
}
