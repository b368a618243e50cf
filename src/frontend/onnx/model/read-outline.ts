import { concatenate } from '../../../core/bytes/concatenate.ts';
import { FormatError } from '../../../core/errors.ts';
import type { FileWindow } from '../../../core/bytes/file-window.ts';
import { type Field, fieldsOf } from '../protobuf/fields-of.ts';
import { type MessageName, ONNX_SCHEMA } from '../protobuf/schema.ts';

/** Messages up to so many bytes are taken as they are, with the elements of tensors in them. */
const WHOLE_BYTES = 2 ** 13;

/** No model comes near. */
const MOST_FIELDS = 2 ** 18;
const MOST_BYTES = 2 ** 26;
const MOST_LEVELS = 100;

/** Where large tensors of an outline lie, in messages. */
const LOCATION = 'the model';

/** Elements of tensors by the numbers of their fields; true where each takes as many bytes as in memory. */
const ELEMENTS: ReadonlyMap<number, boolean> = new Map([
  [ONNX_SCHEMA.TensorProto.rawData[0], true],
  [ONNX_SCHEMA.TensorProto.floatData[0], true],
  [ONNX_SCHEMA.TensorProto.doubleData[0], true],
  [ONNX_SCHEMA.TensorProto.int32Data[0], false],
  [ONNX_SCHEMA.TensorProto.int64Data[0], false],
  [ONNX_SCHEMA.TensorProto.uint64Data[0], false],
]);

/**
 * An ONNX model without the elements of its large tensors: they stand as tensors in another file, and are not read. So are
 * fields that the importer does not know. Throws FormatError for a file that is no ONNX model, or has more than any.
 */
export function readOnnxOutline(file: FileWindow): Promise<Uint8Array> {
  return new OutlineReader(file).message('ModelProto', { begin: 0, end: file.byteLength }, 0);
}

class OutlineReader {
  readonly #file: FileWindow;
  #fieldCount = 0;
  #byteLength = 0;

  constructor(file: FileWindow) {
    this.#file = file;
  }

  async message(
    name: MessageName,
    { begin, end }: Pick<Field, 'begin' | 'end'>,
    level: number,
  ): Promise<Uint8Array> {
    this.#require('levels of messages', level, MOST_LEVELS);
    const types = new Map<number, string | readonly [string]>(Object.values(ONNX_SCHEMA[name]));
    const parts: Uint8Array[] = [];
    let next = begin;
    for await (const field of fieldsOf(this.#file, begin, end)) {
      this.#require('fields', ++this.#fieldCount, MOST_FIELDS);
      const start = next;
      next = field.end;
      const [type] = [types.get(field.number)].flat();
      if (type === undefined) continue;
      const isLarge = field.end - field.begin > WHOLE_BYTES;
      if (isLarge && name === 'TensorProto' && ELEMENTS.has(field.number)) {
        parts.push(...placeOf(field));
      } else if (isLarge && isMessage(type)) {
        const inner = await this.message(type, field, level + 1);
        parts.push(delimited(field.number, inner));
      } else {
        this.#byteLength += field.end - start;
        this.#require('bytes without weights', this.#byteLength, MOST_BYTES);
        parts.push(await this.#file.exactly(start, field.end));
      }
    }
    return concatenate(parts);
  }

  #require(what: string, count: number, most: number): void {
    if (count <= most) return;
    throw new FormatError({
      where: 'ONNX model',
      got: `${count} ${what}, or more`,
      expected: `at most ${most}`,
      remedy: 'No model has so many; the file is damaged.',
    });
  }
}

const isMessage = (type: string): type is MessageName => Object.hasOwn(ONNX_SCHEMA, type);

/** Fields of a TensorProto that say where its elements lie. */
function placeOf({ number, begin, end }: Field): readonly Uint8Array[] {
  const length = ELEMENTS.get(number) === true ? { length: end - begin } : {};
  const { key, value } = ONNX_SCHEMA.StringStringEntryProto;
  return Object.entries({ location: LOCATION, offset: begin, ...length }).map((entry) => {
    const texts = entry.map((text) => new TextEncoder().encode(String(text)));
    const fields = texts.map((text, i) => delimited(i === 0 ? key[0] : value[0], text));
    return delimited(ONNX_SCHEMA.TensorProto.externalData[0], concatenate(fields));
  });
}

/** A field of a message. The writer of protobuf would come with the compiler, to pages that write none. */
function delimited(number: number, bytes: Uint8Array): Uint8Array {
  const header: number[] = [];
  for (let rest of [number * 8 + 2, bytes.byteLength]) {
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) header.push((rest % 128) + 128);
    header.push(rest);
  }
  return concatenate([Uint8Array.from(header), bytes]);
}
