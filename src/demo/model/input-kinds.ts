import { readNpy } from '../../cli/files/npy.ts';
import { type InputValue, Tensor, type ValueInfo } from '../../client/index.ts';
import { randomInputs } from '../../client/values/random-inputs.ts';
import { ShapeError } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import {
  type Picture,
  type PictureOptions,
  preparePictures,
  type Sound,
} from '../../tasks/index.ts';
import type { PictureInput } from '../../tasks/pictures/model-pictures.ts';
import { readSound } from '../../tasks/sound/sound.ts';
import { neatDigit } from '../digits/write-digit.ts';
import { element } from '../element.ts';
import { openCamera } from '../sections/describe-media-error.ts';
import { synthesizedSound } from '../sound/synthesized-sound.ts';
import type { TextField } from './text-field.ts';
import {
  plainPart,
  type TextInputs,
  type TextRow,
  textTensor,
  type TokenPart,
} from './text-inputs.ts';

const SIDE = 224;

/** A white 3 on black, for those who have no picture at hand. */
function drawnPicture(): Picture {
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

/** Makes the value of one input. `sizes` are those of named dimensions; `row` has the tokens where a text was chosen. */
type MakeValue = (sizes: ReadonlyMap<string, number>, row?: TextRow) => Promise<InputValue>;

/** A kind of input that a person can choose. */
export interface InputKind {
  readonly label: string;
  readonly make: MakeValue;
  /** A field for what this kind needs beside its label: a file, or a text. */
  readonly field?: HTMLElement;
}

/** The label of the kind that is a text. */
export const A_TEXT = 'A text';

/** Inputs of a model that are recognised when all its inputs are seen together. */
export interface KnownInputs {
  /** The input that takes pictures, if one does. */
  readonly pictures: PictureInput | undefined;
  readonly text: (TextInputs & { readonly field: TextField }) | undefined;
  /** Numbers that are not random, by the inputs' names. */
  readonly values: ReadonlyMap<string, string>;
}

/** The kinds of value that fit an input, the likeliest first. */
export function kindsOf(info: ValueInfo, { pictures, text, values }: KnownInputs): InputKind[] {
  const value = values.get(info.name);
  if (value !== undefined) return [numbersKind(info, value)];
  const part = text?.parts.get(info.name);
  if (part !== undefined && part !== 'ids') {
    return [partKind(info, part), { label: 'Random', make: random(info) }, ...givenKinds(info)];
  }
  const picture = pictures?.name === info.name ? pictures.options : undefined;
  const isSound = info.dtype === 'float32' && info.shape.length > 0 && info.shape.length < 4;
  return [
    ...(picture === undefined ? [] : pictureKinds(picture)),
    { label: 'Random', make: random(info) },
    ...(text === undefined || part === undefined ? [] : [textKind(info, text.field)]),
    ...(isSound && picture === undefined ? soundKinds(info) : []),
    ...givenKinds(info),
  ];
}

function givenKinds(info: ValueInfo): InputKind[] {
  return [npyKind(info), numbersKind(info)];
}

function textKind(info: ValueInfo, field: TextField): InputKind {
  const make: MakeValue = async (sizes, row) => {
    const { ids } = row ?? (await field.row());
    return textTensor(info, [...sizesOf(info, sizes).slice(0, -1), ids.length], ids);
  };
  return { label: A_TEXT, make, field: field.root };
}

const PART_LABELS: Readonly<Record<Exclude<TokenPart, 'ids'>, string>> = {
  mask: 'One for each token',
  types: 'All of one sentence',
  positions: 'The places of tokens',
};

function partKind(info: ValueInfo, part: Exclude<TokenPart, 'ids'>): InputKind {
  const make: MakeValue = async (sizes, row) => {
    const shape = sizesOf(info, sizes);
    const elements = row?.[part] ?? plainPart(part, shape.at(-1) ?? 0);
    return textTensor(info, [...shape.slice(0, -1), elements.length], elements);
  };
  return { label: PART_LABELS[part], make };
}

function random(info: ValueInfo): MakeValue {
  return async (sizes) => randomInputs([info], sizes, seededRandom(1))[info.name] ?? 0;
}

function pictureKinds(options: PictureOptions): InputKind[] {
  const range = element(
    'select',
    { 'aria-label': 'Elements of the picture' },
    ...Object.keys(RANGES).map((name) => element('option', {}, name)),
  );
  const prepared = async (picture: Picture): Promise<Tensor> => {
    const own = { fit: 'cover', ...options, ...RANGES[range.value] } as const;
    return (await preparePictures([picture], own)).tensor;
  };
  const file = fileField('Picture', 'image/*');
  const fields = (...children: HTMLElement[]): HTMLElement =>
    element('span', { class: 'toolbar' }, ...children);
  return [
    { label: 'A drawn picture', make: async () => prepared(drawnPicture()), field: fields(range) },
    { label: 'A picture', make: async () => prepared(fileOf(file)), field: fields(file, range) },
    { label: 'The camera', make: async () => prepared(await onePicture()), field: fields(range) },
  ];
}

/** Ranges of pixel values that models are commonly trained with. */
const RANGES: Readonly<Record<string, PictureOptions>> = {
  'from 0 to 1': {},
  'from -1 to 1': { mean: 0.5, std: 0.5 },
  'as ImageNet': { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] },
  'from 0 to 255': { scale: 1 },
};

function soundKinds(info: ValueInfo): InputKind[] {
  const file = fileField('Sound', 'audio/*');
  const fitted = async (sound: Sound, sizes: ReadonlyMap<string, number>): Promise<Tensor> => {
    const samples = await readSound(sound, 16_000);
    const shape = sizesOf(info, sizes);
    const count = shape.reduce((product, size) => product * size, 1);
    const data = new Float32Array(count);
    data.set(samples.subarray(0, count));
    return new Tensor('float32', data, shape);
  };
  return [
    { label: 'A synthesized sound', make: async (sizes) => fitted(synthesizedSound(), sizes) },
    { label: 'A recording', make: async (sizes) => fitted(fileOf(file), sizes), field: file },
  ];
}

function npyKind(info: ValueInfo): InputKind {
  const file = fileField('.npy file', '.npy');
  return {
    label: 'A .npy file',
    field: file,
    make: async () => {
      const given = fileOf(file);
      const { dtype, shape, data } = readNpy(new Uint8Array(await given.arrayBuffer()), given.name);
      if (dtype === info.dtype) return new Tensor(dtype, data, shape);
      return Tensor.from(Array.from(data, Number), info.dtype as Tensor['dtype'], shape);
    },
  };
}

function numbersKind(info: ValueInfo, value = '0'): InputKind {
  const field = element('input', {
    type: 'text',
    value,
    'aria-label': `Numbers for ${info.name}`,
  });
  return {
    label: 'Numbers',
    field,
    make: async (sizes) => {
      const numbers = field.value
        .split(/[\s,]+/)
        .filter((text) => text !== '')
        .map(Number);
      const shape = sizesOf(info, sizes);
      const count = shape.reduce((product, size) => product * size, 1);
      if (numbers.length !== count && numbers.length !== 1) {
        throw new ShapeError({
          where: `input "${info.name}"`,
          got: `${numbers.length} numbers`,
          expected: `${count}, or one for all`,
        });
      }
      const wide = info.dtype.endsWith('64') && info.dtype !== 'float64';
      const all = Array.from(
        { length: count },
        (_, i) => numbers[numbers.length === 1 ? 0 : i] ?? 0,
      );
      const dtype = info.dtype as Tensor['dtype'];
      return Tensor.from(
        wide ? all.map(BigInt) : dtype === 'bool' ? all.map(Boolean) : all,
        dtype,
        shape,
      );
    },
  };
}

function sizesOf({ shape }: ValueInfo, sizes: ReadonlyMap<string, number>): number[] {
  return shape.map((size) => (typeof size === 'number' ? size : (sizes.get(size) ?? 1)));
}

function fileField(label: string, accept: string): HTMLInputElement {
  return element('input', { type: 'file', accept, 'aria-label': label });
}

function fileOf(field: HTMLInputElement): File {
  const file = field.files?.[0];
  if (file !== undefined) return file;
  throw new ShapeError({
    where: field.getAttribute('aria-label') ?? 'the file',
    got: 'no file',
    expected: 'one that is chosen',
  });
}

/** One picture of the camera, which is turned off behind it. */
async function onePicture(): Promise<ImageBitmap> {
  const camera = new AbortController();
  try {
    return await (await openCamera(camera.signal))();
  } finally {
    camera.abort();
  }
}
