import { InvalidArgumentError, Option } from 'commander';
import type { ModuleDispatch } from '../../compiler/passes/dispatch-by-shape/dispatch-by-shape.ts';
import { logarithmic, uniform } from '../../compiler/passes/dispatch-by-shape/dispatchers.ts';
import type {
  AxisDispatcher,
  Interval,
  IntervalDispatcher,
} from '../../compiler/passes/dispatch-by-shape/interval.ts';
import { collectDims, collectLimits, collectNodeTypes, parseDevices } from '../parse-options.ts';

const TARGET = /^([^.]+)\.(.+)\.(\d+)$/;

const EXPECTED =
  'Write it as FUNCTION.INPUT.AXIS=1:2,2:4 or =log:MIN:MAX[:BASE] or =uniform:MIN:MAX:STEP. 257: is open, and ,* takes all other sizes.';

/** One `FUNCTION.INPUT.AXIS=INTERVALS` of a repeatable option, gathered by function and input. */
function collectDispatch(text: string, previous: ModuleDispatch = {}): ModuleDispatch {
  const at = text.lastIndexOf('=');
  const [, name, input, axis] = TARGET.exec(text.slice(0, Math.max(at, 0))) ?? [];
  if (name === undefined || input === undefined || axis === undefined) {
    throw new InvalidArgumentError(EXPECTED);
  }
  const axes = { ...previous[name]?.[input], [axis]: dispatcherOf(text.slice(at + 1)) };
  return { ...previous, [name]: { ...previous[name], [input]: axes } };
}

function dispatcherOf(text: string): AxisDispatcher {
  if (!text.endsWith(',*')) return intervalsOf(text);
  return { intervals: intervalsOf(text.slice(0, -2)), otherwise: 'generic' };
}

function intervalsOf(text: string): IntervalDispatcher {
  const [kind, ...rest] = text.split(':');
  if (kind === 'log' && (rest.length === 2 || rest.length === 3)) {
    const [min, max, base] = rest.map(size);
    return logarithmic({ min, max, base });
  }
  if (kind === 'uniform' && rest.length === 3) {
    const [min, max, step = 1] = rest.map(size);
    return uniform({ min, max, step });
  }
  return text.split(',').map((part): Interval => {
    const [from, below, ...more] = part.split(':');
    if (from === undefined || below === undefined || more.length > 0) {
      throw new InvalidArgumentError(EXPECTED);
    }
    return [size(from), below === '' ? Infinity : size(below)];
  });
}

function size(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError(EXPECTED);
  return Number(text);
}

// Options of several commands. Each command has its own, for Commander writes defaults into them.

export const dimsOption = (): Option =>
  new Option('--dim <NAME=N>', 'fix a symbolic dimension of an ONNX model; repeatable').argParser(
    collectDims,
  );

export const dispatchOption = (): Option =>
  new Option(
    '--dispatch <FUNCTION.INPUT.AXIS=INTERVALS>',
    'make clones for intervals of sizes (1:2,2:4 or log:1:64 or uniform:1:64:8); repeatable',
  ).argParser(collectDispatch);

export const indexCheckOption = (): Option =>
  new Option('--check <WHAT>', 'check indices that an ONNX model computes while it runs').choices([
    'indices',
  ]);

export const limitOption = (): Option =>
  new Option(
    '--limit <NAME=N>',
    'change a limit of the compiler: nodes, foldedBytes, work, milliseconds; repeatable',
  ).argParser(collectLimits);

export const nodeFunctionOption = (): Option =>
  new Option(
    '--function <DOMAIN::OPERATOR=TYPE>',
    'the type of a function of JavaScript that computes nodes of an ONNX model; repeatable',
  ).argParser(collectNodeTypes);

export const placementOption = (): Option =>
  new Option(
    '--devices <KIND,KIND>',
    'place parts on both, webgpu,wasm, wherever a run then takes less time',
  ).argParser(parseDevices);

/** The device of one run: of this process, or of `others`. */
export const deviceOption = (description: string, others: readonly string[] = []): Option =>
  new Option('--device <device>', description)
    .choices(['auto', 'host', 'wasm', 'webgpu', ...others])
    .default('auto');
