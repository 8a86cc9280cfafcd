// `tests/soak` appends this to the page of `luzia timeline --html`: what a browser draws says in the title whether it can be read.
function faults() {
  const seen = [...svg.querySelectorAll('text')].filter(text => text.textContent && text.parentNode.style.display !== 'none')
  const texts = seen.map(text => ({ words: text.textContent, box: text.getBoundingClientRect(), bar: text.parentNode.querySelector('rect')?.getBoundingClientRect() }))
  const leaves = ({ box, bar }) => bar && box.right > bar.right
  const meets = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom
  return texts.filter((one, at) => leaves(one) || texts.slice(at + 1).some(other => meets(one.box, other.box))).map(({ words }) => words)
}
const found = faults()
for (const deltaY of [-300, -700, -4000, 500]) {
  svg.dispatchEvent(new WheelEvent('wheel', { deltaY, clientX: 600, clientY: 200, bubbles: true, cancelable: true }))
  found.push(...faults())
}
document.title = `faults: ${bars.length > 10 ? found.join(' | ') || 'none' : 'no bar'}`
