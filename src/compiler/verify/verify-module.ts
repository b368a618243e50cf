import { checkOptions } from '../../core/check-options.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import type { Operators } from '../../ops/operators.ts';
import { checkDefinitions, inferModule } from '../inference/infer-module.ts';
import { constructorsOf } from '../inference/declarations.ts';
import { type SourceTexts, TEXTS, TypeDiagnostics } from '../inference/checks/type-diagnostics.ts';
import { checkNesting } from '../ir/text/check-nesting.ts';
import type { Module } from '../ir/expr.ts';
import { FunctionVerifier } from './verify-function.ts';

/** The checks to make. */
interface VerifyOptions {
  /** Infers types too, once all else is right. Default: true. */
  readonly types?: boolean;
  /** Texts by the name in spans, for excerpts in messages. */
  readonly texts?: SourceTexts;
  /** The operators that may be called. Default: the core operators. */
  readonly operators?: Operators | undefined;
  /**
   * Accepts branches that differ in dimensions, as they do after passes that have found out more
   * about one of them. Default: only where `?` is declared.
   */
  readonly widensBranches?: boolean | undefined;
}

/**
 * Checks what every pass relies on: each variable is bound once and used where it is visible;
 * operators, global functions, constructors and types exist; calls and patterns have the right
 * number of operands, operators the attributes of their schema; nothing is used behind a `kill` of it;
 * the module is well-typed. It does
 * not check that dimensions which only the running program knows agree.
 *
 * Throws a TypeCheckError with everything that is wrong (the first 20 places); if that is nothing
 * but the operands of one operator, the operator's ShapeError.
 */
export function verifyModule(module: Module, options: VerifyOptions = {}): void {
  checkOptions<VerifyOptions>('verifyModule', options, {
    types: 'boolean',
    texts: TEXTS,
    operators: 'operators',
    widensBranches: 'boolean',
  });
  const { types = true, texts, operators = CORE_OPERATORS, widensBranches } = options;
  checkNesting(module, 'verifyModule');
  const diagnostics = new TypeDiagnostics(texts);
  checkDefinitions(module.types, diagnostics);
  for (const [name, definition] of module.types) {
    if (definition.name === name) continue;
    const got = `a type ${definition.name}`;
    diagnostics.complain(undefined, { where: `type ${name}`, got, expected: 'the same name' });
  }
  const constructors = constructorsOf(module.types);
  for (const [name, fn] of module.functions) {
    new FunctionVerifier({ module, constructors, diagnostics, operators }, name, fn).verify();
  }
  if (types && diagnostics.isEmpty) inferModule(module, { texts, operators, widensBranches });
  diagnostics.throwIfAny();
}
