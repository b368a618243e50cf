import { Session, Tensor } from '../../src/client/index.ts';
import {
  backgroundRemoval,
  imageClassifier,
  type LabelScore,
  ocr,
  type PictureOptions,
  preparePictures,
  preparePicturesOnDevice,
  superResolution,
} from '../../src/tasks/index.ts';

const WIDTH = 48;
const HEIGHT = 36;
const FORMATS = [
  'rgba8unorm',
  'rgba8unorm-srgb',
  'bgra8unorm',
  'bgra8unorm-srgb',
  'rgba16float',
] as const;
const STEPS: readonly PictureOptions[] = [
  { size: 20, fit: 'cover', mean: [0.4, 0.5, 0.6], std: [0.2, 0.3, 0.4] },
  { size: { width: 60, height: 50 }, fit: 'contain', padding: [9, 99, 199], resampling: 'bicubic' },
  { channels: 'bgr', layout: 'nhwc', dtype: 'float16', size: 16, resampling: 'box' },
];

async function ownDevice(): Promise<GPUDevice> {
  const adapter = await navigator.gpu.requestAdapter();
  if (adapter === null) throw new Error('no adapter');
  return adapter.requestDevice();
}

const placeOn = (gpu: GPUDevice) => ({ worker: false, device: 'webgpu', gpu }) as const;

async function pictureOf(width = WIDTH, height = HEIGHT): Promise<ImageBitmap> {
  const data = new Uint8ClampedArray(width * height * 4);
  for (let i = 0; i < width * height; i++) {
    const [x, y] = [i % width, Math.floor(i / width)];
    data.set([x * 5, y * 7, (x * y) % 256, 255], i * 4);
  }
  return createImageBitmap(new ImageData(data, width, height));
}

/** A texture as pages make them of a picture. */
function textureOf(device: GPUDevice, source: ImageBitmap, format: GPUTextureFormat): GPUTexture {
  const { width, height } = source;
  const { TEXTURE_BINDING, COPY_DST, RENDER_ATTACHMENT } = GPUTextureUsage;
  const usage = TEXTURE_BINDING | COPY_DST | RENDER_ATTACHMENT;
  const texture = device.createTexture({ size: [width, height], format, usage });
  device.queue.copyExternalImageToTexture({ source }, { texture }, [width, height]);
  return texture;
}

const numbersOf = ({ data }: Tensor): number[] => [...data].map(Number);

/** The largest difference of two lists, Infinity for those of other lengths. */
function most(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) return Infinity;
  return Math.max(...a.map((value, i) => Math.abs(value - (b[i] ?? 0))));
}

/** Numbers of a buffer, read as a page does. */
async function numbersIn(device: GPUDevice, buffer: GPUBuffer, at: number, size: number) {
  const { MAP_READ, COPY_DST } = GPUBufferUsage;
  const staging = device.createBuffer({ size, usage: MAP_READ | COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, at, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  return [...new Float32Array(staging.getMappedRange())];
}

const messageOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => String(error),
  );

/** The page's interface to the tests. */
const page = {
  /** For each format, the most that an element of a texture departs from those of the same picture as an ImageBitmap. */
  async textures(model: readonly number[]): Promise<Record<string, number>> {
    const gpuDevice = await ownDevice();
    const session = await Session.load(Uint8Array.from(model), placeOn(gpuDevice));
    const picture = await pictureOf();
    const all: Record<string, number> = {};
    for (const format of FORMATS) {
      const texture = textureOf(gpuDevice, picture, format);
      all[format] = 0;
      for (const options of STEPS) {
        const { tensor: expected } = await preparePictures([picture], options);
        const { tensor } = await preparePicturesOnDevice(session, [texture], options);
        const apart = most(numbersOf(await tensor.read()), numbersOf(expected));
        all[format] = Math.max(all[format] ?? 0, apart);
        tensor.dispose();
      }
    }
    await session.dispose();
    return all;
  },
  /** Classifies a texture and the same picture. */
  async classify(model: readonly number[]): Promise<LabelScore[][]> {
    const gpuDevice = await ownDevice();
    const options = { ...placeOn(gpuDevice), labels: ['red', 'green', 'blue'] };
    await using classifier = await imageClassifier(Uint8Array.from(model), options);
    const picture = await pictureOf();
    const texture = textureOf(gpuDevice, picture, 'rgba8unorm');
    return [await classifier.classify(texture), await classifier.classify(picture)];
  },
  /** Runs other tasks on a texture and on the same picture. */
  async pixels(models: Record<string, readonly number[]>) {
    const place = placeOn(await ownDevice());
    const modelOf = (name: string) => Uint8Array.from(models[name] ?? []);
    await using removal = await backgroundRemoval(modelOf('lightness'), place);
    await using enlarger = await superResolution(modelOf('doubled'), place);
    await using reader = await ocr(
      {
        detection: modelOf('detection'),
        recognition: modelOf('recognition'),
        dictionary: ['r', 'g', 'b'],
      },
      place,
    );
    // Rows of no whole number of words.
    const picture = await pictureOf(47, 35);
    const texture = textureOf(place.gpu, picture, 'bgra8unorm');
    const all = [];
    for (const each of [texture, picture]) {
      const applied = [...(await removal.apply(each)).data];
      const canvas = new OffscreenCanvas(1, 1);
      await removal.draw(each, canvas);
      const shown = canvas.getContext('2d')?.getImageData(0, 0, 47, 35).data ?? [];
      const enlarged = [...(await enlarger.enlarge(each)).data];
      all.push({ applied, enlarged, shown: [...shown], lines: (await reader.read(each)).lines });
    }
    return all;
  },
  /** Numbers of a result that lies in a buffer, for an input that does, and whether the device outlives the session. */
  async buffers(model: readonly number[]): Promise<{ found: number[]; expected: number[] }> {
    const gpuDevice = await ownDevice();
    const session = await Session.load(Uint8Array.from(model), placeOn(gpuDevice));
    const numbers = Float32Array.from({ length: 48 }, (_, i) => i / 48);
    const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
    const usage = STORAGE | COPY_SRC | COPY_DST;
    const buffer = gpuDevice.createBuffer({ size: numbers.byteLength, usage });
    gpuDevice.queue.writeBuffer(buffer, 0, numbers);
    const shape = [1, 3, 4, 4];
    const x = await session.fromGpuBuffer(buffer, { dtype: 'float32', shape });
    const kept = await session.run({ pixel_values: x }, { keep: ['logits'] });
    const range = await kept.logits.gpuBuffer();
    const found = await numbersIn(gpuDevice, range.buffer, range.byteOffset, range.byteLength);
    const host = new Tensor('float32', numbers, shape);
    const { logits } = await session.run({ pixel_values: host });
    await session.dispose();
    const own = await numbersIn(gpuDevice, buffer, 0, numbers.byteLength);
    const expected = logits === undefined ? [] : numbersOf(logits);
    return { found: [...found, ...own], expected: [...expected, ...numbers] };
  },
  /**
   * Errors for textures and buffers of another device, and for a session that is not on the page's.
   */
  async refusals(model: readonly number[]): Promise<string[]> {
    const [gpuDevice, other] = [await ownDevice(), await ownDevice()];
    const program = Uint8Array.from(model);
    const session = await Session.load(program, placeOn(gpuDevice));
    const inWorker = await Session.load(program, { device: 'webgpu' });
    const texture = textureOf(other, await pictureOf(), 'rgba8unorm');
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
    const buffer = other.createBuffer({ size: 256, usage });
    const layout = { dtype: 'float32', shape: [1, 3, 4, 4] } as const;
    const messages = await Promise.all([
      messageOf(preparePicturesOnDevice(session, [texture])),
      messageOf(session.fromGpuBuffer(buffer, layout)),
      messageOf(preparePicturesOnDevice(inWorker, [texture])),
      messageOf(inWorker.fromGpuBuffer(buffer, layout)),
      messageOf(Session.load(program, { ...placeOn(gpuDevice), worker: true })),
    ]);
    await Promise.all([session.dispose(), inWorker.dispose()]);
    return messages;
  },
};

export type OwnDevicePage = typeof page;
Object.assign(globalThis, { weftOwnDevice: page });
document.documentElement.dataset['ready'] = 'true';
