import { Option } from 'commander';
import { collectDispatch } from '../parse-dispatch.ts';
import { collectDims, collectLimits, collectNodeTypes, parseDevices } from '../parse-options.ts';

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
