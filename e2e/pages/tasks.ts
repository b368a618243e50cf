import { Session, type Tensor } from '../../src/client/index.ts';
import { PICTURE_STEPS } from '../../src/tasks/testing/test-pictures.ts';
import {
  backgroundRemoval,
  imageClassifier,
  imageSegmenter,
  type LabelScore,
  ocr,
  type Picture,
  preparePictures,
  preparePicturesOnDevice,
  superResolution,
} from '../../src/tasks/index.ts';

import { drawLandmarks, handLandmarker } from '../../src/tasks/live/index.ts';

const WIDTH = 48;
const HEIGHT = 36;

const numbersOf = ({ data }: Tensor): number[] => [...data].map(Number);

/** A canvas of opaque pixels that are all different. */
function drawnCanvas(): OffscreenCanvas {
  const canvas = new OffscreenCanvas(WIDTH, HEIGHT);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('no canvas');
  const data = new Uint8ClampedArray(WIDTH * HEIGHT * 4);
  for (let i = 0; i < WIDTH * HEIGHT; i++) {
    const [x, y] = [i % WIDTH, Math.floor(i / WIDTH)];
    data.set([x * 5, y * 7, (x * y) % 256, 255], i * 4);
  }
  context.putImageData(new ImageData(data, WIDTH, HEIGHT), 0, 0);
  return canvas;
}

/** The same picture in every form that this browser has. */
async function forms(): Promise<Record<string, Picture>> {
  const canvas = drawnCanvas();
  const element = document.createElement('canvas');
  [element.width, element.height] = [WIDTH, HEIGHT];
  element.getContext('2d')?.drawImage(canvas, 0, 0);
  // The policy of the page lets no image element show a blob.
  const blob = await canvas.convertToBlob({ type: 'image/png' });
  const pixels = canvas.getContext('2d')?.getImageData(0, 0, WIDTH, HEIGHT);
  if (pixels === undefined) throw new Error('no canvas');
  return {
    ImageData: pixels,
    ImageBitmap: await createImageBitmap(canvas),
    OffscreenCanvas: canvas,
    HTMLCanvasElement: element,
    Blob: blob,
    ...('VideoFrame' in globalThis ? { VideoFrame: new VideoFrame(canvas, { timestamp: 0 }) } : {}),
  };
}

/** Letters that the models of the tests read: rb g, and below grb. */
function writtenCanvas(): OffscreenCanvas {
  const canvas = new OffscreenCanvas(160, 96);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('no canvas');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, 160, 96);
  const colours = { r: 'rgb(200,0,0)', g: 'rgb(0,200,0)', b: 'rgb(0,0,200)' };
  const letters = [
    ['r', 16, 16],
    ['b', 32, 16],
    ['g', 112, 16],
    ['g', 40, 60],
    ['r', 56, 60],
    ['b', 72, 60],
  ] as const;
  for (const [letter, left, top] of letters) {
    context.fillStyle = colours[letter];
    context.fillRect(left, top, 16, 12);
  }
  return canvas;
}

const bytesIn = (base64: string): Uint8Array =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

const hashOf = (bytes: ArrayLike<number>): number =>
  Array.from(bytes).reduce((hash, byte) => (hash * 31 + byte) % 1_000_003, 0);

/** A canvas of two colours, the second one from column `from` on. */
function twoColours(left: string, right: string, from: number): OffscreenCanvas {
  const canvas = new OffscreenCanvas(12, 6);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('no canvas');
  context.fillStyle = left;
  context.fillRect(0, 0, 12, 6);
  context.fillStyle = right;
  context.fillRect(from, 0, 12, 6);
  return canvas;
}

/** Counts what is mapped for reading on WebGPU in this page until it is told to end. */
function countReadbacks(): () => number {
  if (!('GPUBuffer' in globalThis)) return () => 0;
  const { prototype } = GPUBuffer;
  const own = Object.getOwnPropertyDescriptor(prototype, 'mapAsync') ?? {};
  let count = 0;
  const counting = function (this: GPUBuffer, ...args: Parameters<GPUBuffer['mapAsync']>) {
    count++;
    return Reflect.apply(own.value as GPUBuffer['mapAsync'], this, args);
  };
  Object.defineProperty(prototype, 'mapAsync', { ...own, value: counting });
  return () => {
    Object.defineProperty(prototype, 'mapAsync', own);
    return count;
  };
}

/** Counts how often pixels of a canvas are read in this thread until it is told to end. */
function countReads(): () => number {
  const kinds = [OffscreenCanvasRenderingContext2D.prototype, CanvasRenderingContext2D.prototype];
  let count = 0;
  const ends = kinds.map((prototype) => {
    const own = Object.getOwnPropertyDescriptor(prototype, 'getImageData') ?? {};
    const counting = function (this: object, ...args: unknown[]): unknown {
      count++;
      return Reflect.apply(own.value as (...args: unknown[]) => unknown, this, args);
    };
    Object.defineProperty(prototype, 'getImageData', { ...own, value: counting });
    return () => void Object.defineProperty(prototype, 'getImageData', own);
  });
  return () => {
    for (const end of ends) end();
    return count;
  };
}

/** The pixels that a canvas shows. */
function shownOn(canvas: HTMLCanvasElement): Uint8ClampedArray {
  const { width, height } = canvas;
  const context = new OffscreenCanvas(width, height).getContext('2d');
  context?.drawImage(canvas, 0, 0);
  return context?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray();
}

/** The largest difference of two lists, Infinity for those of other lengths. */
function most(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Infinity;
  return Math.max(...Array.from(a, (value, i) => Math.abs(value - (b[i] ?? 0))));
}

type Place = { readonly device: 'webgpu' | 'wasm' | 'host'; readonly worker: boolean };

/** The page's interface to the tests. */
const page = {
  /** For each form of a picture, the most that an element differs from that of plain pixels. */
  async differences(): Promise<Record<string, number>> {
    const options = { size: 20, fit: 'cover', dtype: 'uint8' } as const;
    const { ImageData: plain, ...others } = await forms();
    if (plain === undefined) throw new Error('no pixels');
    const { tensor } = await preparePictures([plain], options);
    const expected = numbersOf(tensor);
    const all: Record<string, number> = {};
    for (const [name, picture] of Object.entries(others)) {
      const { tensor: own } = await preparePictures([picture], options);
      const apart = numbersOf(own).map((value, i) => Math.abs(value - (expected[i] ?? 0)));
      all[name] = Math.max(...apart);
      if (picture instanceof VideoFrame) picture.close();
    }
    return all;
  },
  /** Classifies a canvas of one colour by a model in the worker. */
  async classify(model: readonly number[], colour: string): Promise<LabelScore[]> {
    const canvas = new OffscreenCanvas(9, 7);
    const context = canvas.getContext('2d');
    if (context === null) throw new Error('no canvas');
    context.fillStyle = colour;
    context.fillRect(0, 0, 9, 7);
    const labels = ['red', 'green', 'blue'];
    await using classifier = await imageClassifier(Uint8Array.from(model), {
      device: 'host',
      labels,
    });
    return await classifier.classify(canvas, { topK: 1 });
  },
  /** Names and shares of the segments of a picture that is red, and blue from the column 3 on. */
  async segment(model: readonly number[]): Promise<[string, number][]> {
    await using segmenter = await imageSegmenter(Uint8Array.from(model), {
      device: 'host',
      labels: ['red', 'green', 'blue'],
    });
    const { segments } = await segmenter.segment(twoColours('#f00', '#00f', 3));
    return segments.map(({ label, share }) => [label, share]);
  },
  /** Levels along the first row of a picture that is black, and white from the middle on, without what is dark, on a canvas. */
  async cutOut(model: readonly number[]): Promise<number[]> {
    await using removal = await backgroundRemoval(Uint8Array.from(model), { device: 'host' });
    const { width, height, data } = await removal.apply(twoColours('#000', '#fff', 6));
    const context = new OffscreenCanvas(width, height).getContext('2d');
    context?.putImageData(new ImageData(data, width, height), 0, 0);
    const row = context?.getImageData(0, 0, width, 1).data ?? [];
    return [...row].filter((_, i) => i % 4 === 3);
  },
  /** For each form of a picture, the most that an element departs from those of the processor when the GPU prepares it. */
  async onDevice(model: readonly number[], place: Place) {
    const session = await Session.load(Uint8Array.from(model), place);
    const { ImageData: plain, ...others } = await forms();
    if (plain === undefined) throw new Error('no pixels');
    const all: Record<string, number> = {};
    let readbacks = 0;
    for (const [name, picture] of Object.entries(others)) {
      all[name] = 0;
      for (const options of PICTURE_STEPS) {
        const pictures = [picture, picture];
        const { tensor: expected } = await preparePictures([plain, plain], options);
        const count = countReadbacks();
        const { tensor } = await preparePicturesOnDevice(session, pictures, options);
        readbacks += count();
        const apart = most(numbersOf(await tensor.read()), numbersOf(expected));
        all[name] = Math.max(all[name] ?? 0, apart);
        tensor.dispose();
      }
      if (picture instanceof VideoFrame) picture.close();
    }
    await session.dispose();
    return { all, readbacks };
  },
  /** How far what is drawn onto a canvas departs from what is read, and how often drawing it read something. */
  async drawEnlarged(model: readonly number[], place: Place) {
    await using enlarger = await superResolution(Uint8Array.from(model), place);
    const { data } = await enlarger.enlarge(drawnCanvas());
    const canvas = document.createElement('canvas');
    const readbacks = countReadbacks();
    await enlarger.draw(drawnCanvas(), canvas);
    return { readbacks: readbacks(), most: most(shownOn(canvas), data), width: canvas.width };
  },
  /** The same for a picture without its background. */
  async drawCutOut(model: readonly number[], place: Place) {
    await using removal = await backgroundRemoval(Uint8Array.from(model), place);
    const { data } = await removal.apply(twoColours('#000', '#fff', 6));
    const canvas = document.createElement('canvas');
    const readbacks = countReadbacks();
    await removal.draw(twoColours('#000', '#fff', 6), canvas);
    return { readbacks: readbacks(), most: most(shownOn(canvas), data), width: canvas.width };
  },
  /**
   * Results of the tasks for a picture in each form, one of pixels first. Counts how often this
   * thread read pixels for them, and how often it does for `preparePictures`.
   */
  async whereRead(models: Record<string, readonly number[]>, place: Place) {
    const modelOf = (name: string) => Uint8Array.from(models[name] ?? []);
    await using classifier = await imageClassifier(modelOf('colours'), place);
    await using removal = await backgroundRemoval(modelOf('lightness'), place);
    await using enlarger = await superResolution(modelOf('doubled'), place);
    const [detection, recognition] = [modelOf('detection'), modelOf('recognition')];
    const letters = { detection, recognition, dictionary: ['r', 'g', 'b'] };
    await using reader = await ocr(letters, place);
    const written = writtenCanvas();
    const pixels = written.getContext('2d')?.getImageData(0, 0, written.width, written.height);
    if (pixels === undefined) throw new Error('no canvas');
    const bitmap = await createImageBitmap(written);
    const blob = await written.convertToBlob({ type: 'image/png' });
    const results: string[] = [];
    const reads = countReads();
    for (const picture of [pixels, written, bitmap, blob]) {
      const scores = await classifier.classify(picture);
      const { data: cutOut } = await removal.apply(picture);
      const { data: enlarged } = await enlarger.enlarge(picture);
      const page = await reader.read(picture);
      const levels = [hashOf(cutOut), hashOf(enlarged)];
      results.push(JSON.stringify({ text: page.text, lines: page.lines, scores, levels }));
    }
    const inTasks = reads();
    const others = countReads();
    await preparePictures([written]);
    return { results, inTasks, inThisThread: others() };
  },
  /**
   * Where the wrist of a hand is in frames of a canvas that gets bright, by what is watched, and how many pixels drawing it changes.
   */
  async followed(
    models: readonly [detector: string, landmarks: string],
  ): Promise<{ readonly wrists: Record<string, number[][]>; readonly drawn: number }> {
    const [detector, landmarks] = models.map((base64) => bytesIn(base64)) as [
      Uint8Array,
      Uint8Array,
    ];
    await using hands = await handLandmarker({ detector, landmarks }, { count: 1 });
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [64, 48];
    const context = canvas.getContext('2d', { willReadFrequently: true });
    if (context === null) throw new Error('no canvas');
    let paints = 0;
    let isOver = false;
    const paint = (): void => {
      // A stream of a canvas has a frame for what changes.
      context.fillStyle = paints++ % 2 === 0 ? '#fff' : '#fefefe';
      context.fillRect(0, 0, 64, 48);
      if (!isOver) requestAnimationFrame(paint);
    };
    paint();
    const wrists: Record<string, number[][]> = {};
    let drawn = 0;
    const all = {
      canvas,
      ...('captureStream' in canvas ? { stream: canvas.captureStream() } : {}),
    };
    for (const [name, watched] of Object.entries(all)) {
      const places: number[][] = [];
      wrists[name] = places;
      for await (const result of hands.watch(watched)) {
        const [wrist] = result.hands[0]?.landmarks ?? [];
        places.push([Math.round(wrist?.x ?? -1), Math.round(wrist?.y ?? -1)]);
        if (places.length < 3) continue;
        const own = new OffscreenCanvas(64, 48);
        drawLandmarks(own, result);
        const levels = own.getContext('2d')?.getImageData(0, 0, 64, 48).data ?? [];
        drawn = levels.filter((level, i) => i % 4 === 3 && level > 0).length;
        break;
      }
    }
    isOver = true;
    return { wrists, drawn };
  },
  /** The message of the error for a picture. */
  async failure(kind: 'image' | 'file' | 'address' | 'list'): Promise<string> {
    const [image, file] = [new Image(), new Blob(['no picture'])];
    const given = { image, file, address: '/no/cat.png', list: [1, 2] }[kind];
    try {
      await preparePictures([given as Picture]);
      return 'prepared';
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    }
  },
};

export type TasksPage = typeof page;
Object.assign(globalThis, { weftTasks: { ...page, imageClassifier } });
document.documentElement.dataset['ready'] = 'true';
