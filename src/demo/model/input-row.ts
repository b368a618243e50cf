import {
  type Inputs,
  type InputValue,
  type Session,
  Tensor,
  type ValueInfo,
} from '../../client/index.ts';
import { numbersToChoose, randomInputs } from '../../client/random-inputs.ts';
import { ShapeError } from '../../core/errors.ts';
import { readNpy } from '../../cli/npy.ts';
import { seededRandom } from '../../core/random.ts';
import {
  preparePictures,
  type Picture,
  type PictureOptions,
  type Sound,
} from '../../tasks/index.ts';
import { type PictureInput, pictureInputOf } from '../../tasks/pictures/model-pictures.ts';
import { readSound } from '../../tasks/sound/sound.ts';
import { element } from '../element.ts';
import { synthesizedSound } from '../sound/synthesized-sound.ts';
import { drawnPicture } from './drawn-picture.ts';
import { openCamera } from '../open-camera.ts';

/** Makes the value of one input. `sizes` are those that were chosen for named dimensions. */
type MakeValue = (sizes: ReadonlyMap<string, number>) => Promise<InputValue>;

/** A kind of input that a person can choose. */
interface InputKind {
  readonly label: string;
  readonly make: MakeValue;
  /** What else it needs: a file, a text. */
  readonly field?: HTMLElement;
}

/** Where the elements of each input of a model come from. */
export class InputRows {
  readonly root = element('div', { class: 'inputs' });
  readonly #makers = new Map<string, () => MakeValue>();
  readonly #sizes = new Map<string, HTMLInputElement>();
  readonly #inputs: readonly ValueInfo[];

  constructor(session: Session) {
    const { inputs } = session;
    this.#inputs = inputs;
    const picture = pictureOf(session);
    for (const name of numbersToChoose(inputs)) {
      const field = element('input', { type: 'number', value: 1, min: 0, step: 1 });
      this.#sizes.set(name, field);
      this.root.append(element('div', { class: 'field' }, element('label', {}, `${name} `, field)));
    }
    for (const info of inputs) {
      if (isTensor(info)) this.root.append(this.#row(info, kindsOf(info, picture)));
    }
  }

  /** Reads files and devices as the rows say. */
  async values(): Promise<Inputs> {
    const inputs = this.#inputs;
    const sizes = new Map([...this.#sizes].map(([name, { value }]) => [name, Number(value)]));
    const values: Record<string, InputValue> = { ...randomInputs(inputs, sizes, seededRandom(1)) };
    for (const [name, make] of this.#makers) values[name] = await make()(sizes);
    return values;
  }

  #row(info: ValueInfo, kinds: readonly InputKind[]): HTMLElement {
    const choice = element(
      'select',
      { id: `input-${info.name}` },
      ...kinds.map(({ label }) => element('option', {}, label)),
    );
    const label = element('label', { for: choice.id }, info.name);
    const shown = element('span', { class: 'input-field' });
    const show = (): void => {
      const field = kinds[choice.selectedIndex]?.field;
      shown.replaceChildren(...(field === undefined ? [] : [field]));
    };
    choice.addEventListener('change', show);
    show();
    this.#makers.set(info.name, () => kinds[choice.selectedIndex]?.make ?? random(info));
    return element('div', { class: 'field' }, label, choice, shown);
  }
}

function isTensor({ dtype }: ValueInfo): boolean {
  return dtype !== 'int' && dtype !== 'float' && dtype !== 'any';
}

/** The input that takes pictures, if one does. */
function pictureOf(session: Session): PictureInput | undefined {
  try {
    return pictureInputOf(session, undefined);
  } catch (error) {
    if (error instanceof ShapeError) return undefined;
    throw error;
  }
}

/** What fits an input, the likeliest first. */
function kindsOf(info: ValueInfo, pictures: PictureInput | undefined): InputKind[] {
  const picture = pictures?.name === info.name ? pictures.options : undefined;
  const isSound = info.dtype === 'float32' && info.shape.length > 0 && info.shape.length < 4;
  return [
    ...(picture === undefined ? [] : pictureKinds(picture)),
    { label: 'Random', make: random(info) },
    ...(isSound && picture === undefined ? soundKinds(info) : []),
    npyKind(info),
    numbersKind(info),
  ];
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

/** What models are trained with. */
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

function numbersKind(info: ValueInfo): InputKind {
  const field = element('input', {
    type: 'text',
    value: '0',
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
