import { FormatError } from '../errors.ts';

/** What a file is that is no model of ours, and what to do with it. */
interface Sniffed {
  /** As a noun phrase. */
  readonly what: string;
  readonly remedy: string;
  /** Of a model that is not ONNX; an archive may hold one. */
  readonly format?: ModelFormatName | undefined;
}

type ModelFormatName = 'tflite' | 'tfjs';

/** As many bytes at the begin of a file are enough. */
const SNIFFED_BYTE_LENGTH = 256;

type Row = readonly [begin: RegExp, what: string, remedy: string, format?: ModelFormatName];

const TO_ONNX = 'Export the model to ONNX.';

/** Files by how their bytes begin, each byte a character. */
const FILES: readonly Row[] = [
  // First, because it begins with a length, whose bytes may be any.
  [
    /^[^]{4}␀{4}\{/,
    'a safetensors file',
    'TextModel.load of weft-vm/text loads language models from their folder.',
  ],
  [
    /^(?:\xef\xbb\xbf)?\s*</,
    'a page of HTML, or other markup',
    'This is markup: the server answered with a page. Check the address.',
  ],
  [
    /^version https:\/\/git-lfs/,
    'a pointer of Git LFS instead of the file',
    'Fetch the file: git lfs pull, or /resolve/ in the address on Hugging Face.',
  ],
  [
    /^PK[␃␅]/,
    'a ZIP archive, such as PyTorch writes',
    'Unpack it. A PyTorch model becomes an ONNX model by torch.onnx.export.',
    'tflite',
  ],
  [
    /^\x80[␂-␅][}\]()c\x8a\x95]/,
    'a pickle of Python, such as PyTorch writes',
    'A PyTorch model becomes an ONNX model by torch.onnx.export.',
  ],
  [/^.{4}TFL3/s, 'a TensorFlow Lite model', 'Session.load reads it.', 'tflite'],
  [
    /^\s*\{\s*"(modelTopology|format":\s*"\w+-model)"/,
    'a TensorFlow.js model',
    'Session.load reads it.',
    'tfjs',
  ],
  [/^\x89HDF/, 'an HDF5 file, such as Keras writes', TO_ONNX],
  [/^GGUF/, 'a GGUF file', 'TextModel.load of weft-vm/text loads language models from it.'],
  [
    /^(?:\x89PNG|\xff\xd8\xff|GIF8|RIFF.{4}WEBP|BM.{4}␀␀␀␀)/s,
    'a picture',
    'It is an input of a model.',
  ],
  [/^(?:RIFF.{4}WAVE|OggS|fLaC|ID3)/s, 'a sound', 'It is an input of a model.'],
  [/^\x93NUMPY/, 'an array of NumPy', 'It is an input of a model.'],
  [/^␟\x8b/, 'a file packed by gzip', 'Unpack it, or serve it with Content-Encoding: gzip.'],
  [/^\x89WEFT/, 'a .weft executable', 'Session.load reads it.'],
  [/^(?:\xef\xbb\xbf)?\s*[[{]\s*["[{\]}\d-]/, 'JSON', 'Load the model beside it.'],
];

/** A byte as a character: control characters but white space have pictures, which patterns can show. */
const pictured = (byte: number): number =>
  byte < 0x20 && !/\s/.test(String.fromCharCode(byte)) ? 0x2400 + byte : byte;

/** Says what a file is by its first bytes; undefined for what may be a model, and for nothing that is known. */
export function sniff(bytes: Uint8Array): Sniffed | undefined {
  const head = bytes.subarray(0, SNIFFED_BYTE_LENGTH);
  if (head.length === 0)
    return { what: 'no bytes at all', remedy: 'Check that the file was written whole.' };
  const text = String.fromCharCode(...Array.from(head, pictured));
  const row = FILES.find(([begin]) => begin.test(text));
  if (row !== undefined) return { what: row[1], remedy: row[2], format: row[3] };
  // A text has no control characters, and a model has.
  const words = new TextDecoder().decode(head).replace(/\ufffd+$/, '');
  if (words.length < 4 || /[^\P{Cc}\s]|\ufffd/u.test(words)) return undefined;
  const begin = words.trim().replaceAll(/\s+/g, ' ').slice(0, 40);
  return { what: `a text that begins with ${JSON.stringify(begin)}`, remedy: 'Check the address.' };
}

/** Throws FormatError, with what it is, for a file that is known to be another one than `expected`. */
export function refuseOtherFile(
  bytes: Uint8Array,
  { where, expected }: { readonly where: string; readonly expected: string },
): void {
  const found = sniff(bytes);
  if (found === undefined) return;
  throw new FormatError({ where, got: found.what, expected, remedy: found.remedy });
}

/** A value in JSON. Throws FormatError, with what the file is instead. */
export function parseJson(where: string, bytes: Uint8Array, expected = 'JSON'): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    const found = sniff(bytes);
    const isJson = found === undefined || found.what === 'JSON';
    const got = isJson ? 'no JSON' : found.what;
    throw new FormatError(
      { where, got, expected, remedy: isJson ? undefined : found.remedy },
      { cause },
    );
  }
}

/** An object in JSON. Throws as {@link parseJson} does. */
export function parseJsonObject(
  where: string,
  bytes: Uint8Array,
): Readonly<Record<string, unknown>> {
  const expected = 'an object in JSON';
  const value = parseJson(where, bytes, expected);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw new FormatError({ where, got: 'no object', expected });
}

/** Tags with which the fields of an ONNX ModelProto begin: fields 1 to 8, 14, 20 and 25. */
const MODEL_TAGS = [0x08, 0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72, 0xa2, 0xca];

/**
 * The format of a model that is not ONNX, by its first bytes: TensorFlow Lite, which an archive may hold too, or TensorFlow.js,
 * whose `model.json` has other fields than modules of the IR.
 */
export const otherFormat = (head: Uint8Array): ModelFormatName | undefined => sniff(head)?.format;

/** Throws FormatError for a file, neither executable nor ONNX model, by its first bytes. */
export function checkLooksLikeOnnx(head: Uint8Array, where: string): void {
  const expected = 'a .weft executable or an .onnx model';
  refuseOtherFile(head, { where, expected });
  const [first = 0] = head;
  if (MODEL_TAGS.includes(first)) return;
  const hex = Array.from(head.subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0'));
  throw new FormatError({ where, got: `bytes that begin with ${hex.join(' ')}`, expected });
}
