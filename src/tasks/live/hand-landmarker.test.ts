import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Pixels } from '../../core/pictures/pixels.ts';
import { HAND_MODELS as MODELS } from '../testing/live-models.ts';
import { type HandLandmarker, handLandmarker } from './hand-landmarker.ts';

const picture = (level: number): Pixels => ({
  width: 640,
  height: 480,
  data: new Uint8Array(640 * 480).fill(level),
});
const WHITE = picture(255);
const BLACK = picture(0);

let hands: HandLandmarker;
beforeAll(async () => {
  hands = await handLandmarker(MODELS, { device: 'wasm', count: 1 });
});
afterAll(() => hands.dispose());

test('a hand lies where the region of its palm lies in the picture', async () => {
  const { hands: found, width, height } = await hands.detect(WHITE);
  expect([width, height, found.length]).toEqual([640, 480, 1]);
  const [hand] = found;
  // The letterbox shows 640 x 640 pixels from -80 on in 192; the palm's middle is that of the picture, 80 pixels wide.
  // Its square has 2.6 times that, and its middle lies half a palm above.
  const side = 2.6 * 80;
  expect(hand?.landmarks[5]).toEqual({
    x: expect.closeTo(320, 3),
    y: expect.closeTo(200, 3),
    z: 0,
  });
  expect(hand?.landmarks[0]?.y).toBeCloseTo(200 + side / 4, 3);
  expect(hand?.landmarks[6]?.y).toBeCloseTo(200 - side / 4, 3);
  expect(hand?.landmarks[6]?.z).toBeCloseTo((0.1 / 0.4) * side, 3);
  expect(hand?.world[1]).toEqual({
    x: expect.closeTo(0.03),
    y: expect.closeTo(0.04),
    z: expect.closeTo(0.05),
  });
  expect([hand?.handedness, hand?.handednessScore]).toEqual(['left', 0.75]);
  expect(hand?.presence).toBeCloseTo(1);
});

test('models are found in a folder by their names, or each by its address', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-hands-'));
  try {
    const files = {
      detector: 'palm_detection_full.tflite',
      landmarks: 'hand_landmark_lite.tflite',
    };
    const paths = {
      detector: join(folder, files.detector),
      landmarks: join(folder, files.landmarks),
    };
    writeFileSync(paths.detector, MODELS.detector);
    writeFileSync(paths.landmarks, MODELS.landmarks);
    for (const source of [folder, paths]) {
      await using loaded = await handLandmarker(source, { device: 'wasm' });
      expect((await loaded.detect(WHITE)).hands).toHaveLength(1);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** A ZIP archive that stores files as they are. */
function archiveOf(files: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const header = (signature: number, numbers: readonly number[]): Uint8Array => {
      const bytes = new Uint8Array(numbers.length * 2 + 4);
      const view = new DataView(bytes.buffer);
      view.setUint32(0, signature, true);
      for (const [i, number] of numbers.entries()) view.setUint16(4 + i * 2, number, true);
      return bytes;
    };
    const halves = (number: number): number[] => [number & 0xffff, number >>> 16];
    const size = [...halves(content.length), ...halves(content.length)];
    const local = header(0x04034b50, [20, 0, 0, 0, 0, 0, 0, ...size, name.length, 0]);
    const text = new TextEncoder().encode(name);
    const entry = [20, 20, 0, 0, 0, 0, 0, 0, ...size, name.length, 0, 0, 0, 0, 0, 0, ...halves(at)];
    directory.push(header(0x02014b50, entry), text);
    parts.push(local, text, content);
    at += local.length + text.length + content.length;
  }
  const length = directory.reduce((sum, part) => sum + part.length, 0);
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, Object.keys(files).length, true);
  end.setUint16(10, Object.keys(files).length, true);
  end.setUint32(12, length, true);
  end.setUint32(16, at, true);
  return Buffer.concat([...parts, ...directory, new Uint8Array(end.buffer)]);
}

test('models are found in a bundle, by its bytes or its address', async () => {
  const bundle = archiveOf({
    'hand_detector.tflite': MODELS.detector,
    'hand_landmarks_detector.tflite': MODELS.landmarks,
  });
  const folder = mkdtempSync(join(tmpdir(), 'weft-bundle-'));
  try {
    const path = join(folder, 'hand_landmarker.task');
    writeFileSync(path, bundle);
    for (const source of [bundle, path]) {
      await using loaded = await handLandmarker(source, { device: 'wasm' });
      expect((await loaded.detect(WHITE)).hands).toHaveLength(1);
    }
    await expect(handLandmarker(bundle.subarray(50))).rejects.toThrow('model bundle: got ');
    await expect(handLandmarker(join(folder, 'other.task'))).rejects.toThrow(
      'other.task: got no such file, expected a .task bundle of .tflite models',
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('what the model of landmarks does not see is no hand', async () => {
  expect((await hands.detect(BLACK)).hands).toEqual([]);
});

test('the detector runs while nothing is followed, and when the hand is lost', async () => {
  const detector = vi.spyOn(hands.sessions[0], 'run');
  async function* frames() {
    for (const frame of [BLACK, WHITE, WHITE, WHITE, BLACK, WHITE]) yield frame;
  }
  const counts: number[] = [];
  const runs: number[] = [];
  for await (const { hands: found } of hands.watch(frames())) {
    counts.push(found.length);
    runs.push(detector.mock.calls.length);
  }
  detector.mockRestore();
  expect(counts).toEqual([0, 1, 1, 1, 0, 1]);
  expect(runs).toEqual([1, 2, 2, 2, 2, 3]);
});

test('a signal ends a watch with its reason, and what cannot be watched is refused at once', async () => {
  const stop = new AbortController();
  async function* frames() {
    for (;;) yield WHITE;
  }
  const watching = async (): Promise<void> => {
    for await (const { hands: found } of hands.watch(frames(), { signal: stop.signal })) {
      if (found.length > 0) stop.abort(new Error('enough'));
    }
  };
  await expect(watching()).rejects.toThrow('enough');
  expect(() => hands.watch(5 as never)).toThrow(
    'watch: got something to watch that is 5, expected a video, a canvas, a MediaStream, a stream of VideoFrames or pictures one by one.',
  );
});

test('frames of a stream that nobody waits for are closed, the newest is seen', async () => {
  const closed: number[] = [];
  const frame = (level: number): Pixels & { close(): void } => ({
    ...picture(level),
    close: () => closed.push(level),
  });
  const stream = new ReadableStream<never>({
    start(controller) {
      for (const level of [10, 20, 30, 255]) controller.enqueue(frame(level) as never);
      controller.close();
    },
  });
  const found: number[] = [];
  for await (const result of hands.watch(stream)) found.push(result.hands.length);
  expect(found.at(-1)).toBe(1);
  expect(closed.toSorted((a, b) => a - b)).toEqual([10, 20, 30, 255]);
  expect(found.length).toBeLessThan(4);
});

test('models of another kind are refused with their outputs', async () => {
  const swapped = { detector: MODELS.landmarks, landmarks: MODELS.landmarks };
  await expect(handLandmarker(swapped, { device: 'wasm' })).rejects.toThrow(
    'the model: got outputs points: float32 [1, 63], presence: float32 [1, 1], right: float32 [1, 1], world: float32 [1, 63], expected pictures of 192 x 192, boxes [1, 2016, 18] and scores [1, 2016, 1]',
  );
  const wrong = { detector: MODELS.detector, landmarks: MODELS.detector };
  await expect(handLandmarker(wrong, { device: 'wasm' })).rejects.toThrow(
    'expected points [1, 63], presence [1, 1], handedness [1, 1], world [1, 63]',
  );
  await expect(handLandmarker({ detector: MODELS.detector } as never)).rejects.toThrow(
    'the models: got landmarks undefined, expected an address, bytes or a function that reads files',
  );
});
