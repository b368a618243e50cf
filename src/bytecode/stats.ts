import type { Constant, ExecutableData, FunctionEntry } from './executable.ts';
import { FORMAT_MAJOR, FORMAT_MINOR } from './file-format.ts';
import { decodeRange } from './isa.ts';
import { printShape, printSignature } from './print-types.ts';
import { sectionByteLengths } from './serialize.ts';
import { formatName } from './text-format.ts';

/** The parts of an executable, as text for people. */
export function executableStats(program: ExecutableData): string {
  return [
    `weft executable, format ${FORMAT_MAJOR}.${FORMAT_MINOR}`,
    ...list('bytecode functions', functionLines(program)),
    ...list('primitive functions', primitiveLines(program)),
    ...list('packed functions', namesOf(program.functionTable, 'packed')),
    ...list('constants', program.constants.map(constantLine)),
    ...list('shape programs', shapeProgramLines(program)),
    ...list('bytes', byteLines(program)),
    '',
  ].join('\n');
}

function list(title: string, lines: readonly string[]): string[] {
  const count = title === 'bytes' ? '' : ` (${lines.length})`;
  return [`${title}${count}${lines.length === 0 ? '' : ':'}`, ...lines.map((line) => `  ${line}`)];
}

function functionLines(program: ExecutableData): string[] {
  return program.functions.map(({ name, paramNames, signature, ...fn }) => {
    const end = fn.codeStart + fn.codeLength;
    const count = [...decodeRange(program.code, fn.codeStart, end)].length;
    const head = `${formatName(name)}${printSignature(paramNames, signature)}`;
    return `${head}: ${count} instructions, ${fn.registerCount} registers`;
  });
}

function primitiveLines({ primitives }: ExecutableData): string[] {
  return primitives.map(({ name, body }) => {
    const operators = body.map(({ op }) => op).join(' -> ');
    return `${formatName(name)}: ${operators === '' ? 'no operators' : operators}`;
  });
}

function namesOf(table: readonly FunctionEntry[], kind: FunctionEntry['kind']): string[] {
  return table.filter((entry) => entry.kind === kind).map(({ name }) => formatName(name));
}

function constantLine(constant: Constant, index: number): string {
  if (constant.kind === 'tensor') {
    const splat = constant.isSplat ? ', one element for all' : '';
    const { dtype, shape, byteLength } = constant;
    return `c[${index}] ${dtype} ${printShape(shape)}: ${byteLength} bytes${splat}`;
  }
  const { kind, value } = constant;
  return `c[${index}] ${kind} ${kind === 'shape' ? printShape(value) : JSON.stringify(value)}`;
}

function shapeProgramLines({ shapePrograms }: ExecutableData): string[] {
  return shapePrograms.map(({ steps }, index) => `p[${index}]: ${steps.length} steps`);
}

function byteLines(program: ExecutableData): string[] {
  const lines = [...sectionByteLengths(program)].map(([name, bytes]) => `${name}: ${bytes}`);
  return [...lines, `data: ${program.dataByteLength}`];
}
