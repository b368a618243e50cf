import type { Picture } from '../../tasks/index.ts';
import { neatDigit } from '../digits/write-digit.ts';

const SIDE = 224;

/** A white 3 on black, for those who have no picture at hand. */
export function drawnPicture(): Picture {
  const canvas = new OffscreenCanvas(SIDE, SIDE);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser gives no 2D canvas.');
  context.fillRect(0, 0, SIDE, SIDE);
  context.strokeStyle = 'white';
  context.lineWidth = 18;
  context.lineCap = 'round';
  context.lineJoin = 'round';
  for (const [first, ...rest] of neatDigit(3)) {
    if (first === undefined) continue;
    context.beginPath();
    context.moveTo(first.x * 1.5 + 37, first.y * 1.5 + 37);
    for (const { x, y } of rest) context.lineTo(x * 1.5 + 37, y * 1.5 + 37);
    context.stroke();
  }
  return canvas;
}
