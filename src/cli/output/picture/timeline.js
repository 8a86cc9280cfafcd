// Zoom with the wheel, move by dragging, see all again with a double click. The picture is complete without it.
const svg = document.querySelector('svg'), tip = document.getElementById('tip'), ticks = document.getElementById('ticks')
const begin = +svg.dataset.begin, all = +svg.dataset.length, bottom = svg.getAttribute('height')
const bars = [...svg.querySelectorAll('.b')].map(bar => {
  const told = bar.querySelector('title').textContent
  bar.querySelector('title').remove()
  const text = bar.querySelector('text') || bar.appendChild(document.createElementNS(svg.namespaceURI, 'text'))
  text.setAttribute('x', 4)
  text.setAttribute('y', 13)
  return { bar, told, text, label: told.split('\n')[0], from: +bar.dataset.f, to: +bar.dataset.t }
})
let from = 0, length = all

function label({ text, label }, width) {
  const fits = words => ((text.textContent = words), text.getComputedTextLength() <= width - 8)
  const first = label.split(' ')[0]
  if (fits(label) || (!fits(first + ' ..') && (fits(first) || fits(first.replace('task_', ''))))) return
  if (!fits(first + ' ..')) return void (text.textContent = '')
  let end = label.length
  while (!fits(label.slice(0, --end) + '…'));
}

function tick(at, step) {
  const iso = new Date(begin + at).toISOString(), day = 864e5
  const part = step >= day || (step >= 6e4 && (begin + at) % day === 0) ? [5, 10] : step < 1e3 ? [11, 23] : step < 6e4 ? [11, 19] : [11, 16]
  const x = LEFT + ((at - from) * PLOT) / length
  return `<line x1="${x}" y1="${TOP - 12}" x2="${x}" y2="${bottom}"/><text class="faint" x="${x}" y="${TOP - 18}" text-anchor="middle">${iso.slice(...part)}</text>`
}

function draw() {
  const step = STEPS.find(step => (step * PLOT) / length >= 100) || length
  let marks = ''
  for (let at = Math.ceil((begin + from) / step) * step - begin; at <= from + length; at += step) marks += tick(at, step)
  ticks.innerHTML = marks
  for (const one of bars) {
    const [left, right] = [one.from, one.to].map(at => (Math.min(Math.max(at - from, 0), length) * PLOT) / length)
    one.bar.style.display = one.to < from || one.from > from + length ? 'none' : ''
    one.bar.setAttribute('x', LEFT + left)
    one.bar.setAttribute('width', Math.max(right - left, 2))
    label(one, Math.max(right - left, 2))
  }
}

function show(newFrom, newLength) {
  length = Math.min(Math.max(newLength, 10), all)
  from = Math.min(Math.max(newFrom, 0), all - length)
  draw()
}

svg.addEventListener('wheel', event => {
  event.preventDefault()
  const part = Math.min(Math.max((event.offsetX - LEFT) / PLOT, 0), 1), next = length * 1.002 ** event.deltaY
  show(from + part * (length - Math.min(Math.max(next, 10), all)), next)
}, { passive: false })
svg.addEventListener('pointermove', event => {
  if (event.buttons) show(from - (event.movementX * length) / PLOT, length)
  const one = bars.find(one => one.bar.contains(event.target))
  tip.hidden = !one
  if (!one) return
  tip.textContent = one.told
  tip.style.left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth) + 'px'
  tip.style.top = Math.min(event.clientY + 16, innerHeight - tip.offsetHeight) + 'px'
})
svg.addEventListener('dblclick', () => show(0, all))
