import type { ExecutableData } from '../../bytecode/executable.ts';
import { UsageError } from '../../core/errors.ts';
import { type NodeCall, nodeCallsFromJson } from '../../core/contracts/node-calls.ts';
import { NODE_CALLS } from '../../core/contracts/node-calls-key.ts';
import type { HostFunction, HostFunctions } from './host-function.ts';
import type { Value } from '../values/value.ts';

/**
 * Host functions for the nodes of a model that call JavaScript, by the names of packed functions.
 * Throws one UsageError that lists all nodes whose function is missing.
 */
export function nodeCalls(
  { metadata, functionTable }: Pick<ExecutableData, 'metadata' | 'functionTable'>,
  functions: HostFunctions,
): Readonly<Record<string, HostFunction>> {
  const called = new Set(functionTable.map(({ name }) => name));
  const calls = [...nodeCallsFromJson(metadata[NODE_CALLS] ?? '{}')].filter(([name]) =>
    called.has(name),
  );
  const missing = calls.filter(([, { operator }]) => {
    const given = functions[operator];
    return typeof given !== 'object' || typeof given.run !== 'function';
  });
  if (missing.length > 0) throw missingFunctions(missing.map(([, call]) => call));
  return Object.fromEntries(
    calls.map(([name, call]) => [name, (...args) => compute(call, functions, args)]),
  );
}

function compute(
  { operator, inputCount, inputs, attributes }: NodeCall,
  functions: HostFunctions,
  args: readonly Value[],
): ReturnType<HostFunction> {
  const given = functions[operator];
  if (typeof given !== 'object') throw new Error(`internal: no function ${operator}`);
  const values = new Array<Value | undefined>(inputCount).fill(undefined);
  for (const [i, index] of inputs.entries()) values[index] = args[i];
  return given.run(values, attributes);
}

function missingFunctions(calls: readonly NodeCall[]): UsageError {
  const operators = [...new Set(calls.map(({ operator }) => operator))].sort();
  const nodes = [...new Set(calls.flatMap((call) => call.nodes))];
  const functions = operators.map((operator) => `'${operator}': { run }`).join(', ');
  return new UsageError(
    {
      where: 'linking',
      got: `no function for ${nodes.join(', ')}`,
      expected: `functions that compute ${operators.join(', ')}`,
      remedy: `Pass functions: { ${functions} }.`,
    },
    { details: { missing: operators, nodes } },
  );
}
