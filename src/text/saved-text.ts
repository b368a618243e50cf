import { Tensor } from '../client/values/tensor.ts';
import { FormatError, UsageError } from '../core/errors.ts';
import { checkOptions } from '../core/check-options.ts';
import { isRecord, parseJson } from '../frontend/decoders/files/json-record.ts';
import { readSafetensors } from '../frontend/decoders/files/safetensors.ts';
import { SAVED_OPTIONS, type SavedOptions } from './generate-options.ts';

/** A text that was being generated, as far as it came. */
interface SavedText {
  /** The fingerprint of the model's weights: a saved text fits no other model. */
  readonly fingerprint: readonly number[];
  readonly prompt: readonly number[];
  readonly generated: readonly number[];
  readonly options: SavedOptions;
  /** Tokens that the caches hold, from the first one on. */
  readonly length: number;
  readonly caches: Readonly<Record<string, Tensor>>;
}

const KIND = 'weft text generation 1';
const DTYPES: Readonly<Record<string, 'float32' | 'float16' | 'int8'>> = {
  F32: 'float32',
  F16: 'float16',
  I8: 'int8',
};
const ARRAYS = { float32: Float32Array, float16: Uint16Array, int8: Int8Array };

/** A safetensors file: caches are its tensors, all else is JSON among its metadata. */
export function writeSavedText({ caches, ...text }: SavedText): Uint8Array {
  const header: Record<string, unknown> = {
    __metadata__: { format: KIND, text: JSON.stringify(text) },
  };
  let end = 0;
  for (const [name, { dtype, shape, data }] of Object.entries(caches)) {
    const known = Object.entries(DTYPES).find(([, own]) => own === dtype);
    if (known === undefined) throw new Error(`internal: a cache of ${dtype}`);
    const begin = end;
    end += data.byteLength;
    header[name] = { dtype: known[0], shape, data_offsets: [begin, end] };
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  // Elements begin at a multiple of 8, blanks before them count with the header.
  const headLength = 8 + Math.ceil(json.length / 8) * 8;
  const bytes = new Uint8Array(headLength + end).fill(0x20, 0, headLength);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(headLength - 8), true);
  bytes.set(json, 8);
  let at = headLength;
  for (const { data } of Object.values(caches)) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return bytes;
}

/** Throws FormatError for bytes that are no saved generation, or a damaged one. */
export function readSavedText(given: Uint8Array): SavedText {
  // Of a Buffer of Node `slice` would copy nothing.
  const bytes = new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  const where = 'saved generation';
  const damaged = (got: string): FormatError =>
    new FormatError({ where, got, expected: 'what save() of a generation gave' });
  const head = readSafetensors(bytes, { name: where });
  if (head.kind !== 'safetensors') throw damaged(`${bytes.length} bytes`);
  const { format, text = '' } = head.metadata;
  if (format !== KIND) throw damaged(`a safetensors file of the format ${format ?? 'none'}`);
  const saved = parseJson(text, where);
  const { fingerprint, prompt, generated, options, length } = saved as Partial<SavedText>;
  if (!(isIntegers(fingerprint) && isIntegers(prompt) && isIntegers(generated))) {
    throw damaged('no lists of integers as fingerprint, prompt and generated');
  }
  const most = prompt.length + generated.length;
  if (!(Number.isSafeInteger(length) && Number(length) >= 0 && Number(length) <= most)) {
    throw damaged(`caches of ${String(length ?? 'unknown')} tokens, of a text of ${most}`);
  }
  if (!isRecord(options)) throw damaged('no options');
  try {
    checkOptions<SavedOptions>('options', options, SAVED_OPTIONS);
  } catch (error) {
    throw damaged(error instanceof Error ? error.message : String(error));
  }
  const caches: Record<string, Tensor> = {};
  for (const [name, { type, shape, byteOffset, byteLength = 0 }] of head.tensors) {
    const dtype = Object.hasOwn(DTYPES, type) ? DTYPES[type] : undefined;
    const end = byteOffset + byteLength;
    if (dtype === undefined || end > bytes.length) throw damaged(`${name} of ${type}, cut off`);
    const { buffer } = bytes.slice(byteOffset, end);
    caches[name] = new Tensor(dtype, new ARRAYS[dtype](buffer), shape);
  }
  return { ...(saved as unknown as Omit<SavedText, 'caches'>), caches };
}

const isIntegers = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((item) => Number.isSafeInteger(item));

/** Throws UsageError for a text that another model generated. */
export function requireSameModel(saved: SavedText, fingerprint: readonly number[]): void {
  if (String(saved.fingerprint) === String(fingerprint)) return;
  throw new UsageError({
    where: 'resume',
    got: 'a generation of a model with other weights',
    expected: 'one of this model',
    remedy: 'Load the model file that it was saved from, or generate again from its text.',
  });
}

/** Throws UsageError for a text whose caches are of another type than those of the model. */
export function requireSameCaches(
  { caches }: SavedText,
  dtypes: ReadonlyMap<string, string>,
): void {
  const names = Object.keys(caches);
  if (names.length === 0) return;
  const isSame =
    names.length === dtypes.size && names.every((name) => caches[name]?.dtype === dtypes.get(name));
  if (isSame) return;
  const held = typeOfCaches(new Map(names.map((name) => [name, caches[name]?.dtype ?? 'none'])));
  throw new UsageError({
    where: 'resume',
    got: `a generation with caches of ${held}`,
    expected: `caches of ${typeOfCaches(dtypes)}, as this model has them`,
    remedy:
      'Load the model with the cacheType that it was saved with, or generate again from its text.',
  });
}

/** Scales of integers are float32 too. */
function typeOfCaches(dtypes: ReadonlyMap<string, string>): string {
  const types = [...new Set(dtypes.values())];
  return types.includes('int8') ? 'int8' : types.join(' and ');
}
