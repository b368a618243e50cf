import { formatNumber } from '../../../bytecode/text/text-format.ts';
import { formatBase64, formatElements } from '../../../bytecode/text/tensor-text.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { AttributeValue } from '../../../core/contracts/primitive-function.ts';
import { DTYPE_SUFFIXES } from './parse-literal.ts';
import { RAW_QUOTE } from './lexer.ts';
import { printDim } from './print-type.ts';

/** Constants up to this many elements stand in the text; larger ones in the metadata section. */
const INLINE_ELEMENTS = 8;

/**
 * `1f`, `[1f, 2f]`; undefined for a tensor whose place is the metadata section: one that is large,
 * empty, of rank 2 or more, or that has bits which no literal gives.
 */
export function printSmallTensor(tensor: HostTensor): string | undefined {
  const { elementCount, shape } = tensor;
  if (elementCount === 0 || elementCount > INLINE_ELEMENTS || shape.length > 1) return undefined;
  const stored = printElements(tensor);
  if (stored === undefined) return undefined;
  if (shape.length === 0) return stored[0];
  const elements = tensor.isSplat ? Array.from({ length: elementCount }, () => stored[0]) : stored;
  return `[${elements.join(', ')}]`;
}

/** The text behind the type of a tensor in the metadata section, over one or more lines. */
export function printData(tensor: HostTensor, data: 'full' | 'elided'): string {
  const [element] = tensor.isSplat ? (printElements(tensor) ?? []) : [];
  if (element !== undefined) return ` = ${element}`;
  if (data === 'elided') return '';
  const { buffer, byteOffset, byteLength } = tensor.elements;
  const lines = formatBase64(new Uint8Array(buffer, byteOffset, byteLength));
  const head = tensor.isSplat ? 'splat base64' : 'base64';
  return ` = ${[head, ...lines.map((line) => `"${line}"`)].join('\n  ')}`;
}

/** The stored elements with their suffixes; undefined when one has bits that no literal gives. */
function printElements({ dtype, elements }: HostTensor): string[] | undefined {
  if (dtype === 'bool') {
    const names = Array.from(elements as Uint8Array, (element) => ['false', 'true'][element]);
    return names.every((name) => name !== undefined) ? names : undefined;
  }
  const texts = formatElements(dtype, elements);
  if (texts.some((text) => text.startsWith('0x'))) return undefined;
  return texts.map((text) => `${text}${DTYPE_SUFFIXES[dtype]}`);
}

export function printAttribute(value: AttributeValue): string {
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value === 'string') return printString(value);
  if (typeof value === 'boolean') return JSON.stringify(value);
  const items: readonly Dim[] = value;
  const isText = items.every((item) => typeof item === 'string');
  return `[${items.map((item) => printItem(item, isText)).join(', ')}]`;
}

/** Names among numbers are dimensions, which stand without quotes. */
/** Texts of several lines as they are, where they can stand so. */
function printString(text: string): string {
  const isRaw = text.includes('\n') && !text.includes(RAW_QUOTE) && !text.endsWith('"');
  return isRaw ? `${RAW_QUOTE}${text}${RAW_QUOTE}` : JSON.stringify(text);
}

function printItem(item: Dim, isText: boolean): string {
  if (typeof item === 'number') return formatNumber(item);
  return isText ? JSON.stringify(item) : printDim(item);
}

/** A float of the host: `#0.5`, `#2.0`. */
export function printFloat(value: number): string {
  const text = printAttribute(value);
  return `#${/^-?[0-9]+$/.test(text) ? `${text}.0` : text}`;
}
