import type { Browser } from 'playwright';
import type { Box } from '../../../src/tasks/index.ts';
import type { Pixels } from '../../../src/core/pictures/pixels.ts';
import { launchChromium } from '../../../scripts/launch-chromium.ts';

/** A piece of text, and where it was drawn. */
export interface DrawnText {
  readonly text: string;
  readonly box: Box;
}

/** A receipt as pixels, with what is written on it. */
export interface Receipt {
  readonly name: string;
  /** Pixels that its letters are high. */
  readonly size: number;
  readonly picture: Pixels;
  /** Row by row, and from the left in a row. */
  readonly texts: readonly DrawnText[];
}

const FONTS = ['sans-serif', 'serif', 'monospace'] as const;
const SIZES = [18, 30] as const;

/** Rows of a receipt: what is at the left, and what is at the right. */
const ROWS: readonly (readonly [left: string, right?: string])[] = [
  ['Harbour Street Grocery'],
  ['14 Harbour Street, Leith'],
  ['Receipt No. 20457', '26.11.2026'],
  ['Wholemeal bread', '2.85'],
  ['Oat milk 1 l x 2', '3.90'],
  ['Apples 1.250 kg', '4.38'],
  ['Dark chocolate 70%', '2.49'],
  ['Coffee beans (500 g)', '11.75'],
  ['Subtotal', '25.37'],
  ['VAT 8.1%', '2.05'],
  ['TOTAL', 'EUR 27.42'],
  ['Paid by card **** 4821', '27.42'],
  ['Thank you, please come again!'],
];

/** Receipts in black on white, drawn by Chromium's canvas in every font and size. */
export async function drawReceipts(): Promise<Receipt[]> {
  const browser = await launchChromium(['--no-sandbox']);
  try {
    const receipts: Receipt[] = [];
    for (const font of FONTS) {
      for (const size of SIZES) receipts.push(await drawReceipt(browser, font, size));
    }
    return receipts;
  } finally {
    await browser.close();
  }
}

async function drawReceipt(browser: Browser, font: string, size: number): Promise<Receipt> {
  const page = await browser.newPage();
  const drawn = await page.evaluate(drawInPage, { font, size, rows: ROWS });
  await page.close();
  const { width, height, base64, texts } = drawn;
  const data = new Uint8Array(Buffer.from(base64, 'base64'));
  return { name: `${font}, ${size} px`, size, picture: { width, height, data }, texts };
}

interface DrawOrder {
  readonly font: string;
  readonly size: number;
  readonly rows: typeof ROWS;
}

/** Runs in the page, so it uses nothing from here. */
function drawInPage({ font, size, rows }: DrawOrder) {
  const margin = size * 2;
  const step = Math.round(size * 1.8);
  const width = size * 24;
  const height = margin * 2 + step * rows.length;
  const context = new OffscreenCanvas(width, height).getContext('2d');
  if (context === null) throw new Error('no canvas');
  context.fillStyle = 'white';
  context.fillRect(0, 0, width, height);
  context.fillStyle = 'black';
  context.font = `${size}px ${font}`;
  context.textBaseline = 'alphabetic';
  const texts: DrawnText[] = [];
  for (const [i, [left, right]] of rows.entries()) {
    const y = margin + i * step + size;
    const draw = (text: string, x: number): void => {
      context.fillText(text, x, y);
      const metrics = context.measureText(text);
      const top = y - metrics.actualBoundingBoxAscent;
      texts.push({
        text,
        box: {
          left: x - metrics.actualBoundingBoxLeft,
          top,
          width: metrics.actualBoundingBoxLeft + metrics.actualBoundingBoxRight,
          height: metrics.actualBoundingBoxAscent + metrics.actualBoundingBoxDescent,
        },
      });
    };
    draw(left, margin);
    if (right !== undefined) draw(right, width - margin - context.measureText(right).width);
  }
  const { data } = context.getImageData(0, 0, width, height);
  let binary = '';
  for (let at = 0; at < data.length; at += 32_768) {
    binary += String.fromCharCode(...data.subarray(at, at + 32_768));
  }
  return { width, height, base64: btoa(binary), texts };
}
