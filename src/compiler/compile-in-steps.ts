import type { Assembled } from '../bytecode/build/draft.ts';
import { CORE_OPERATORS } from '../ops/tables/core-operators.ts';
import { generateCode } from './codegen/codegen.ts';
import { requireCoreOperators } from './inference/checks/require-core-operators.ts';
import { TypeInference } from './inference/type-inference.ts';
import { budgetInForce } from './ir/compile-budget.ts';
import type { Module } from './ir/expr.ts';
import { checkNesting } from './ir/text/check-nesting.ts';
import { postOrder } from './ir/walk/visit.ts';
import { checkDimNames } from './passes/dims/bind-dims.ts';
import { isPassName } from './passes/pass-names.ts';
import type { Placement } from './passes/place-devices.ts';
import { type CompileOptions, type CompilerParts, pipeline } from './pipeline.ts';

export type { Assembled };

/** Runs steps one after the other without waiting between them. */
export function finish<T>(steps: Generator<void, T>, run: <S>(step: () => S) => S): T {
  for (;;) {
    const step = run(() => steps.next());
    if (step.done === true) return step.value;
  }
}

/** Compiles a module, one pass at a time, within the budget in force. */
export function* compileInSteps(
  module: Module,
  options: CompileOptions,
  parts: CompilerParts,
): Generator<void, Assembled> {
  const {
    dump,
    texts,
    onProgress,
    onPlacement,
    onWarning,
    verify,
    operators = CORE_OPERATORS,
  } = options;
  requireCoreOperators(operators);
  checkNesting(module);
  checkDimNames(module, options.dims ?? {});
  const placements = new Map<string, Placement>();
  const passes = pipeline(
    {
      ...options,
      onPlacement: (placement) => placements.set(JSON.stringify(placement), placement),
    },
    parts,
  );
  const context = { types: new TypeInference(undefined, operators), texts, onWarning };
  const verifier = verify === true ? parts.newVerifier?.(operators, module) : undefined;
  dump?.('source', module);
  let current = module;
  for (const [index, pass] of passes.entries()) {
    enterPass(pass.name);
    current = pass.run(current, context);
    if (MULTIPLIERS.has(pass.name) || !isPassName(pass.name)) {
      budgetInForce()?.requireCalls(countCalls(current));
    }
    dump?.(pass.name, current);
    // Until types are inferred, the mistake may be that of the source.
    if (index > 0) verifier?.verify(pass.name, current);
    onProgress?.(index + 1, passes.length + 1);
    yield;
  }
  enterPass('code generation');
  const placed = [...placements.values()];
  for (const placement of placed) onPlacement?.(placement);
  const program = generateCode(withPlacements(current, placed), context.types, options);
  onProgress?.(passes.length + 1, passes.length + 1);
  return program;
}

/** Passes after which there may be more calls than before, by more than a factor. */
const MULTIPLIERS: ReadonlySet<string> = new Set(['inline', 'dispatch-by-shape', 'lower-match']);

export function countCalls({ functions }: Module): number {
  let count = 0;
  for (const fn of functions.values()) {
    for (const { kind } of postOrder(fn)) if (kind === 'call') count++;
  }
  return count;
}

function enterPass(name: string): void {
  const budget = budgetInForce();
  if (budget !== undefined) budget.place = name;
}

/** The session and `weft inspect` read the placements from the executable. */
function withPlacements(module: Module, placements: readonly Placement[]): Module {
  if (placements.length === 0) return module;
  return { ...module, metadata: { ...module.metadata, placements: JSON.stringify(placements) } };
}
