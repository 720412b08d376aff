// The search of the documentation. search.json has titles, headings and words with the numbers of their pages.
(() => {
  const MOST = 12;
  const form = document.querySelector("form.search");
  if (!form || !location.protocol.startsWith("http")) return; // a page from a file may not read another
  const field = form.elements.q, list = form.querySelector("ol"), root = form.dataset.root;
  let index;

  const read = async () => {
    const answer = await fetch(root + "search.json");
    if (!answer.ok) throw new Error(answer.status);
    return answer.json();
  };

  // Page -> its points and its best place, for one word.
  const findWord = (word, { pages, headings, words }) => {
    const found = new Map();
    const note = (page, points, place) => {
      if (!(found.get(page)?.points >= points)) found.set(page, { points, place });
    };
    const weigh = (text, low, high) => (text === word ? high : text.startsWith(word) ? (low + high) / 2 : low);
    pages.forEach(([title], page) => title.toLowerCase().includes(word) && note(page, weigh(title.toLowerCase(), 6, 10)));
    headings.forEach(([text, page, id = text]) => {
      if (text.toLowerCase().includes(word)) note(page, weigh(text.toLowerCase(), 4, 8), { id, text });
    });
    for (const [texts, numbers] of words) {
      const points = texts.split(" ").reduce((most, text) => (text.startsWith(word) ? Math.max(most, text === word ? 2 : 1) : most), 0);
      if (points) numbers.forEach((page) => note(page, points));
    }
    return found;
  };

  const find = (text, all) => {
    const each = text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => findWord(word, all));
    if (!each.length) return [];
    return [...each[0].keys()].filter((page) => each.every((found) => found.has(page)))
      .map((page) => ({
        page, points: each.reduce((sum, found) => sum + found.get(page).points, 0),
        place: each.map((found) => found.get(page).place).find(Boolean),
      })).sort((a, b) => b.points - a.points || a.page - b.page).slice(0, MOST);
  };

  const show = ({ page, place }, all) => {
    const [title, address, group] = all.pages[page], item = document.createElement("li"), link = document.createElement("a");
    link.href = root + address + (place ? "#" + encodeURIComponent(place.id) : "");
    link.textContent = place ? `${title}: ${place.text}` : title;
    link.append(Object.assign(document.createElement("small"), { textContent: group }));
    item.append(link);
    return item;
  };

  field.addEventListener("input", async () => {
    const all = await (index ??= read()).catch(() => (index = undefined));
    if (all) list.replaceChildren(...find(field.value, all).map((found) => show(found, all)));
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); list.querySelector("a")?.click(); });
  form.hidden = false;
})();
