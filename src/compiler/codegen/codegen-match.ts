import type { Operand, RegisterOperand } from '../../bytecode/build/function-builder.ts';
import type { Block } from '../ir/walk/block.ts';
import type { Emitter } from './emitter.ts';
import { type Clause, type Expr, formatSpan, type MatchExpr, type VarExpr } from '../ir/expr.ts';
import type { Task } from '../ir/task.ts';
import { variablesOf } from '../ir/walk/visit.ts';
import type { ModuleContext } from './module-context.ts';

/** Where the value of a block goes: out of the function, or to a register that branches share. */
export type Destination = { readonly kind: 'return' } | RegisterOperand;

/** The emitter of the function around a `match`. */
export interface BlockEmitter {
  readonly emitter: Emitter;
  readonly module: ModuleContext;
  /** The operand that stands for an atom. */
  operand(expr: Expr): Operand;
  blockOf(root: Expr): Block;
  block(block: Block, destination: Destination): Task<void>;
  /** Sets the value that the next instructions compute, for their place in the source. */
  at(value: Expr): void;
  /** Binds a variable of a pattern to the register that holds its value. */
  bind(variable: VarExpr, operand: Operand): void;
}

/** Emits a `match` of one constructor, as `lower-match` leaves it: a test of the tag per clause. */
export function* emitMatch(
  generator: BlockEmitter,
  expr: MatchExpr,
  destination: Destination,
): Task<void> {
  const { emitter, module } = generator;
  const { code } = emitter;
  const { clauses, complete } = expr;
  const value = generator.operand(expr.value);
  const isTested = clauses[0]?.pattern.kind !== 'wildcard' && (clauses.length > 1 || !complete);
  const tag = isTested ? emitter.builtin('get_tag', [value]) : undefined;
  const end = code.label();
  for (const [index, clause] of clauses.entries()) {
    const { pattern } = clause;
    generator.at(expr);
    const isLast = complete && index === clauses.length - 1;
    const next = code.label();
    if (tag !== undefined && !isLast && pattern.kind === 'constructor-pattern') {
      code.if(emitter.builtin('int_eq', [tag, module.tagOf(pattern.constructor)]), next);
    }
    const block = generator.blockOf(clause.body);
    bindFields(generator, clause, { value, block });
    yield generator.block(block, destination);
    if (destination.kind !== 'return') code.goto(end);
    code.place(next);
  }
  const hasDefault = clauses.at(-1)?.pattern.kind === 'wildcard';
  if (!complete && !hasDefault) fail(generator, expr);
  code.place(end);
}

/** Reads the fields that a clause uses. */
function bindFields(
  generator: BlockEmitter,
  { pattern }: Clause,
  { value, block }: { readonly value: Operand; readonly block: Block },
): void {
  if (pattern.kind === 'wildcard') return;
  if (pattern.kind !== 'constructor-pattern') {
    throw new Error(`internal: a ${pattern.kind} after lower-match`);
  }
  for (const [index, field] of pattern.fields.entries()) {
    for (const variable of variablesOf(field)) {
      if (!block.lastUse.has(variable)) continue;
      generator.bind(variable, generator.emitter.builtin('get_field', [value, index]));
    }
  }
}

function fail(generator: BlockEmitter, expr: MatchExpr): void {
  const { emitter, module } = generator;
  generator.at(expr);
  const place = formatSpan(expr.span, 'match');
  emitter.builtin('fatal', [module.builder.string(`${place}: no clause fits the value`)]);
  // Nothing comes here, but the verifier wants every path to end.
  emitter.code.ret(emitter.code.void);
}
