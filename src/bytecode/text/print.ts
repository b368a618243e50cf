import { UsageError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { OperatorCall, PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import type { SourcePlace } from '../../core/contracts/source-place.ts';
import { tensorOf } from '../constant-tensor.ts';
import type { Constant, ExecutableData, ShapeStep } from '../executable.ts';
import { FORMAT_MAJOR } from '../file/file-format.ts';
import { minorOf } from '../file/minor-version.ts';
import { printInstructions } from './print-instruction.ts';
import {
  printAttribute,
  printProgramTypes,
  printShape,
  printSignature,
  printTensorType,
} from './print-types.ts';
import { formatBase64, formatElements, MAX_PRINTED_ELEMENTS } from './tensor-text.ts';
import { SourceMap } from '../source-map.ts';
import { sortedEntries } from '../file/sorted-entries.ts';
import { formatName, formatNumber } from './text-format.ts';

/** Beyond this the text would come near the longest string of an engine. */
const MAX_PRINTED_DATA = 256 * 2 ** 20;

/**
 * The listing of a program. With its whole data section `parseExecutable` gives back an equal
 * executable; without, tensors are printed without their elements. Throws UsageError for a data
 * section above 256 MiB.
 */
export function printExecutable(program: ExecutableData & { readonly data?: Uint8Array }): string {
  const data = program.data?.byteLength === program.dataByteLength ? program.data : undefined;
  if (data !== undefined && data.byteLength > MAX_PRINTED_DATA) {
    throw new UsageError({
      where: 'printExecutable',
      got: `${data.byteLength} bytes of data`,
      expected: `at most ${MAX_PRINTED_DATA}`,
      remedy: 'Print the program without its data.',
    });
  }
  const map = SourceMap.of(program);
  const parts = [
    `weft ${FORMAT_MAJOR}.${minorOf(program)}\n`,
    ...program.functions.map((fn) =>
      block(
        `func ${formatName(fn.name)}${printSignature(fn.paramNames, fn.signature)}`,
        numbered(withPlaces(printInstructions(program, fn), fn.name, map)),
      ),
    ),
    section('references', program.functionTable, ({ kind, name }, index) => [
      `f[${index}] = ${kind} ${formatName(name)}`,
    ]),
    section('constants', program.constants, (constant, index) =>
      printConstant(constant, `c[${index}]`, data),
    ),
    ...program.primitives.map(printPrimitive),
    section('shape_programs', program.shapePrograms, ({ steps }, index) => [
      `p[${index}] = { ${steps.map(printStep).join(', ')} }`,
    ]),
    program.types === undefined ? '' : block('types', printProgramTypes(program.types)),
    section('metadata', sortedEntries(program.metadata), ([key, value]) => [
      `${formatName(key)} = ${JSON.stringify(value)}`,
    ]),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function block(header: string, lines: readonly string[]): string {
  return [`${header} {`, ...lines.map((line) => `  ${line}`), '}', ''].join('\n');
}

function section<T>(
  name: string,
  items: readonly T[],
  print: (item: T, index: number) => string[],
): string {
  return items.length === 0 ? '' : block(name, items.flatMap(print));
}

function numbered(lines: readonly string[]): string[] {
  const width = String(lines.length - 1).length;
  return lines.map((line, index) => `${String(index).padStart(width)}: ${line}`);
}

/** Each instruction with the places it comes from, where these are others than those of the one before. */
function withPlaces(lines: readonly string[], name: string, map: SourceMap | undefined): string[] {
  let before = '';
  return lines.map((line, index) => {
    const places = (map?.at(name, index) ?? []).map(printPlace).join(', ');
    if (places === before) return line;
    before = places;
    return `${line} from ${places === '' ? 'nowhere' : places}`;
  });
}

function printPlace({ source, line, column = 1 }: SourcePlace): string {
  return line === undefined
    ? JSON.stringify(source)
    : `${JSON.stringify(source)}:${line}:${column}`;
}

function printConstant(constant: Constant, name: string, data: Uint8Array | undefined): string[] {
  switch (constant.kind) {
    case 'tensor': {
      const word = constant.isSplat ? 'splat' : 'tensor';
      const place = constant.device === undefined ? '' : `${constant.device} `;
      const head = `${name} = ${place}${word} ${constant.dtype} ${printShape(constant.shape)}`;
      if (data === undefined) return [`${head} elided`];
      return printElements(head, tensorOf(constant, data));
    }
    case 'shape':
      return [`${name} = shape ${printShape(constant.value)}`];
    case 'string':
      return [`${name} = string ${JSON.stringify(constant.value)}`];
    case 'float':
      return [`${name} = float ${formatNumber(constant.value)}`];
    default:
      return [`${name} = ${constant.kind} ${constant.value}`];
  }
}

function printElements(head: string, { dtype, elements }: HostTensor): string[] {
  if (elements.length <= MAX_PRINTED_ELEMENTS) {
    return [`${head} [${formatElements(dtype, elements).join(', ')}]`];
  }
  const bytes = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
  return [`${head} base64`, ...formatBase64(bytes).map((line) => `  "${line}"`)];
}

/** A primitive function as it stands in a listing. */
export function printPrimitive(primitive: PrimitiveFunction): string {
  const { name, params, body, results, device, inPlace } = primitive;
  const inputs = params.map((type, i) => `%${i}: ${printTensorType(type)}`);
  const outputs = results.map(({ value, type }) => `%${value}: ${printTensorType(type)}`);
  return block(
    `primitive ${formatName(name)}(${inputs.join(', ')}) -> (${outputs.join(', ')})` +
      (device === undefined ? '' : ` on ${device}`) +
      (inPlace === undefined ? '' : ` over %${inPlace}`),
    body.map((call, i) => `%${params.length + i} = ${printOperatorCall(call)}`),
  );
}

function printOperatorCall({ op, inputs, attributes }: OperatorCall): string {
  const values = inputs.map((input) => (input < 0 ? '_' : `%${input}`));
  const pairs = sortedEntries(attributes).map(([key, value]) => `${key}: ${printAttribute(value)}`);
  const suffix = pairs.length === 0 ? '' : ` {${pairs.join(', ')}}`;
  return `${op}(${values.join(', ')})${suffix}`;
}

function printStep(step: ShapeStep): string {
  if (step.op === 'const') return `const ${step.value}`;
  return step.op === 'load' || step.op === 'store' ? `${step.op} ${step.slot}` : step.op;
}
