const WIDTH = 560;
const SIZE = 24;
const STEP = 44;
const MARGIN = 40;

/** Texts at the left and at the right of each row. */
const ROWS: readonly (readonly [left: string, right?: string])[] = [
  ['Weaver & Daughters'],
  ['7 Shuttle Lane, Galashiels'],
  ['Receipt 1804', '27.11.2026'],
  ['Linen thread x 3', '5.40'],
  ['Wooden shuttle', '12.90'],
  ['Warp yarn 250 g', '8.75'],
  ['TOTAL', 'GBP 27.05'],
  ['Thank you!'],
];

/** A receipt as one gets it in a shop, drawn in black on white. */
export function drawnReceipt(): OffscreenCanvas {
  const canvas = new OffscreenCanvas(WIDTH, 2 * MARGIN + STEP * ROWS.length);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser gives no 2D canvas.');
  context.fillStyle = '#fffdf7';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = '#14191a';
  context.font = `${SIZE}px sans-serif`;
  for (const [i, [left, right = '']] of ROWS.entries()) {
    const y = MARGIN + i * STEP + SIZE;
    context.fillText(left, MARGIN, y);
    context.fillText(right, WIDTH - MARGIN - context.measureText(right).width, y);
  }
  return canvas;
}
