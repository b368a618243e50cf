import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DeviceTensor, Session, Tensor } from '../../client/index.ts';
import { COLOUR_CLASSES } from '../testing/segmentation-models.ts';
import { drawTensor, tensorToBitmap } from '../index.ts';

let session: Session;
let tensor: DeviceTensor;

beforeAll(async () => {
  session = await Session.load(COLOUR_CLASSES, { device: 'host' });
  const pixels = new Tensor('float32', new Float32Array(3 * 6), [1, 3, 2, 3]);
  const { logits } = await session.run({ pixel_values: pixels }, { keep: 'device' });
  if (logits === undefined) throw new Error('no logits');
  tensor = logits;
});

afterAll(() => session.dispose());

test('a tensor of other channels is refused with its dimensions', async () => {
  await expect(tensorToBitmap(tensor, { channels: 'opacity' })).rejects.toThrow(
    'the tensor that is drawn: got float32 [1, 3, 2, 3], expected float32, float16 or uint8 [1, 1, rows, columns].',
  );
  await expect(tensorToBitmap(tensor, { layout: 'nhwc', channels: 'grey' })).rejects.toThrow(
    'expected float32, float16 or uint8 [1, rows, columns, 1].',
  );
});

test('where nothing draws, that is said', async () => {
  const canvas = {} as OffscreenCanvas;
  await expect(drawTensor(tensor, canvas)).rejects.toThrow(
    'drawing a tensor: got no createImageBitmap, expected a browser. Read the tensor, and draw its elements.',
  );
});

test('unknown options are refused', async () => {
  await expect(tensorToBitmap(tensor, { channel: 'rgb' } as object)).rejects.toThrow(
    'got an unknown option "channel"',
  );
});
