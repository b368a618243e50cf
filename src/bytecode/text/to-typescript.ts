import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { tensorOf } from '../constant-tensor.ts';
import type { BytecodeFunction, Constant, ExecutableData } from '../executable.ts';
import type { Instruction } from '../isa.ts';
import * as isa from '../isa.ts';
import { SourceMap } from '../source-map.ts';
import { sortedEntries } from '../file/sorted-entries.ts';
import { formatBase64, formatElements, MAX_PRINTED_ELEMENTS } from './tensor-text.ts';

const LINE_WIDTH = 100;

/** How an executable becomes a program that builds it. */
export interface ToTypeScriptOptions {
  /** Where the program imports from; default `weft-vm/executable`. */
  readonly importFrom?: string;
}

/**
 * A TypeScript module that rebuilds the executable with ExecBuilder: its `buildExecutable()` gives
 * the same bytes.
 */
export function toTypeScript(
  program: ExecutableData,
  data: Uint8Array,
  { importFrom = 'weft-vm/executable' }: ToTypeScriptOptions = {},
): string {
  const map = SourceMap.of(program);
  const names = program.functionTable.map(({ name }) => name);
  const body = [
    'const b = new ExecBuilder({ exact: true });',
    ...sortedEntries(program.metadata).map(([key, value]) => `b.metadata(${args(key, value)});`),
    ...(program.types === undefined ? [] : [`b.types(${literal(program.types)});`]),
    ...(names.length === 0
      ? []
      : [`for (const name of ${literal(names)}) b.functionReference(name);`]),
    ...program.primitives.map((primitive) => `b.definePrimitive(${literal(primitive)});`),
    ...program.shapePrograms.map(({ steps }) => `b.shapeProgram(${literal(steps)});`),
    ...constantLines(program.constants, data),
    ...program.functions.flatMap((fn) => ['{', ...functionLines(program, fn, map), '}']),
    'return b.build();',
  ].join('\n');
  const imports = ['Executable', 'ExecBuilder', 'HostTensor'].filter(
    (name) => name === 'Executable' || body.includes(name),
  );
  const importList = imports.map((name) => (name === 'Executable' ? `type ${name}` : name));
  return [
    `import { ${importList.join(', ')} } from ${literal(importFrom)};`,
    '',
    'export function buildExecutable(): Executable {',
    indent(body),
    '}',
    ...(body.includes('fromBase64(') ? FROM_BASE64 : []),
    '',
  ].join('\n');
}

const FROM_BASE64 = [
  '',
  'function fromBase64(lines: readonly string[]): Uint8Array {',
  "  return Uint8Array.from(atob(lines.join('')), (char) => char.charCodeAt(0));",
  '}',
];

function constantLines(constants: readonly Constant[], data: Uint8Array): string[] {
  if (constants.length === 0) return [];
  const calls = constants.map((constant) => {
    if (constant.kind !== 'tensor') return `b.${constant.kind}(${literal(constant.value)}),`;
    const device = constant.device === undefined ? '' : `, ${literal(constant.device)}`;
    return `b.tensor(${tensorExpression(tensorOf(constant, data))}${device}),`;
  });
  return ['const c = [', ...calls.map(indent), '] as const;'];
}

function tensorExpression(tensor: HostTensor): string {
  const { dtype, shape, elements, isSplat } = tensor;
  const bits = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
  const texts = elements.length <= MAX_PRINTED_ELEMENTS ? elementLiterals(tensor) : undefined;
  if (texts !== undefined) {
    const values = isSplat ? (texts[0] ?? '0') : `[${texts.join(', ')}]`;
    return `HostTensor.${isSplat ? 'splat' : 'from'}(${args(dtype, shape)}, ${values})`;
  }
  const bytes = `fromBase64(${literal(formatBase64(bits))})`;
  if (!isSplat) return `HostTensor.fromBytes(${args(dtype, shape)}, ${bytes})`;
  const one = `HostTensor.fromBytes(${args(dtype, [1])}, ${bytes}).elements`;
  return `new HostTensor(${args(dtype, shape)}, ${one}, true)`;
}

/** Elements as HostTensor.from takes them; undefined where a NaN would not keep its bits. */
function elementLiterals({ dtype, elements }: HostTensor): string[] | undefined {
  if (elements instanceof BigInt64Array || elements instanceof BigUint64Array) {
    return Array.from(elements, (value) => `${value}n`);
  }
  if (dtype === 'float16') return Array.from(elements, String);
  if (elements.some(Number.isNaN)) return undefined;
  return formatElements(dtype, elements).map((text) => text.replace('inf', 'Infinity'));
}

function functionLines(
  program: ExecutableData,
  fn: BytecodeFunction,
  map: SourceMap | undefined,
): string[] {
  const instructions = [
    ...isa.decodeRange(program.code, fn.codeStart, fn.codeStart + fn.codeLength),
  ];
  const indexOfPc = new Map(instructions.map(({ pc }, index) => [pc, index]));
  const labels = new Map<number, string>();
  for (const { spec, operands, pc } of instructions) {
    for (const [position, word] of operands.entries()) {
      if (isa.operandSpec(spec, position).kind !== 'offset') continue;
      const target = isa.jumpTarget(pc, word);
      labels.set(target, `l${indexOfPc.get(target)}`);
    }
  }
  const options = fn.signature === undefined ? '' : `, ${literal({ signature: fn.signature })}`;
  const lines = [`const f = b.function(${args(fn.name, fn.paramNames)}${options});`];
  for (const label of labels.values()) lines.push(`const ${label} = f.label();`);
  let before = '';
  for (const [index, instruction] of instructions.entries()) {
    const places = args(...(map?.at(fn.name, index) ?? []));
    if (places !== before) lines.push(`f.at(${places});`);
    before = places;
    const label = labels.get(instruction.pc);
    if (label !== undefined) lines.push(`f.place(${label});`);
    lines.push(instructionCall(instruction, labels, program));
  }
  return lines.map(indent);
}

/** Methods of FunctionBuilder are named as the instructions and take operands in table order. */
function instructionCall(
  { spec, operands, pc }: Instruction,
  labels: ReadonlyMap<number, string>,
  program: ExecutableData,
): string {
  const fixed: string[] = [];
  const variadic: string[] = [];
  let options = '';
  for (const [position, word] of operands.entries()) {
    const operand = isa.operandSpec(spec, position);
    if (operand.kind === 'destination') {
      options = `, { into: ${argumentExpression(word, program)} }`;
    } else if (operand.kind === 'offset') {
      fixed.push(labels.get(isa.jumpTarget(pc, word)) ?? '');
    } else if (operand.kind === 'callee') {
      fixed.push(literal(program.functionTable[isa.argumentValue(word)]?.name ?? ''));
    } else {
      const list = operand === spec.variadic ? variadic : fixed;
      list.push(argumentExpression(word, program));
    }
  }
  if (spec.variadic !== undefined) fixed.push(`[${variadic.join(', ')}]`);
  return `f.${spec.name}(${fixed.join(', ')}${options});`;
}

function argumentExpression(word: number, program: ExecutableData): string {
  const value = isa.argumentValue(word);
  switch (isa.argumentKind(word)) {
    case isa.ArgumentKind.register:
      if (value === isa.VOID_REGISTER) return 'f.void';
      return value === isa.VM_REGISTER ? 'f.vm' : `f.r(${value})`;
    case isa.ArgumentKind.immediate:
      return String(value);
    case isa.ArgumentKind.constant:
      return `c[${value}]`;
    default:
      return `b.functionReference(${literal(program.functionTable[value]?.name ?? '')})`;
  }
}

function args(...values: readonly unknown[]): string {
  return values.map(literal).join(', ');
}

/** A literal of plain data, over several lines where one would be too long. */
function literal(value: unknown): string {
  if (Object.is(value, -0)) return '-0';
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'string' ? stringLiteral(value) : String(value);
  }
  const items = Array.isArray(value)
    ? value.map(literal)
    : Object.entries(value).map(([key, item]) => `${key}: ${literal(item)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{ ', ' }'];
  if (items.length === 0) return `${open}${close}`.replace(/ /g, '');
  const line = `${open}${items.join(', ')}${close}`;
  if (line.length <= LINE_WIDTH && !line.includes('\n')) return line;
  return `${open.trim()}\n${items.map((item) => indent(`${item},`)).join('\n')}\n${close.trim()}`;
}

/** Without line separators, which JSON leaves as they are and `indent` would take for line ends. */
function stringLiteral(text: string): string {
  return JSON.stringify(text).replace(
    /[\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16)}`,
  );
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
