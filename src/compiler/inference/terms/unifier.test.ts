import { describe, expect, test } from 'vitest';
import type { Dim } from '../../../core/dims/dim.ts';
import { formatType, tensorType, type Type } from '../../ir/type.ts';
import { freshMeta, functionTerm, type Term, termOf } from '../../ir/term.ts';
import { Unifier } from './unifier.ts';

const vector = (dim: Dim): Type => tensorType({ dtype: 'float32', shape: [dim] });
const term = (dim: Dim): Term => termOf(vector(dim));
const times = (left: Dim, right: Dim): Dim => ({ op: 'mul', left, right });

function format(unifier: Unifier, value: Term): string {
  return formatType(unifier.typeOf(value, () => ({ kind: 'type-var', name: '_' })));
}

describe('dimensions', () => {
  test('a known dimension fits where any is accepted, not the other way round', () => {
    const unifier = new Unifier();
    expect(unifier.flow(term(4), term('?'))).toBe(true);
    expect(unifier.flow(term('?'), term(4))).toBe(false);
    expect(unifier.flow(term('?'), term(4), { atRunTime: true })).toBe(true);
    expect(unifier.flow(term(5), term(4), { atRunTime: true })).toBe(false);
    expect(unifier.flow(term(times('n', 2)), term({ op: 'add', left: 'n', right: 'n' }))).toBe(
      true,
    );
  });

  test('an expression waits until its symbols are known', () => {
    const fn = functionTerm([term(times('n', 2)), term('n')], term('n'));
    const unifier = new Unifier();
    const { term: instance } = unifier.instantiate(fn, { scope: new Set() });
    const [double, single, result] = instance.args;
    const late: (readonly [Dim, Dim])[] = [];
    const options = { onMismatch: (got: Dim, wanted: Dim) => late.push([got, wanted]) };
    expect(unifier.flow(term(6), double ?? freshMeta(), options)).toBe(true);
    expect(unifier.flow(term(4), single ?? freshMeta(), options)).toBe(true);
    unifier.settle();
    expect(late).toEqual([[6, 8]]);
    expect(format(unifier, result ?? freshMeta())).toBe('Tensor[(4,), float32]');
  });

  test('a symbol that stood for ? takes the dimension of a later argument', () => {
    const fn = functionTerm([term('n'), term('n')], term('n'));
    const unifier = new Unifier();
    const { args } = unifier.instantiate(fn, { scope: new Set() }).term;
    for (const [i, dim] of (['?', 4] as const).entries()) {
      expect(unifier.flow(term(dim), args[i] ?? freshMeta(), { atRunTime: true })).toBe(true);
    }
    expect(format(unifier, args[2] ?? freshMeta())).toBe('Tensor[(4,), float32]');
  });

  test('symbols of the scope are rigid, those of a function type inside are its own', () => {
    const inner: Type = { kind: 'function', params: [vector('n')], result: vector('n') };
    const fn = functionTerm([termOf(inner), term('m')], term('n'));
    const unifier = new Unifier();
    const { args } = unifier.instantiate(fn, { scope: new Set(['m']) }).term;
    expect(unifier.flow(term(4), args[1] ?? freshMeta())).toBe(false);
    expect(unifier.flow(termOf(inner), args[0] ?? freshMeta())).toBe(false);
  });
});

describe('metavariables', () => {
  test('become wider where they lead to ?, and leave others alone', () => {
    const unifier = new Unifier();
    const [first, joined] = [freshMeta(), freshMeta()];
    unifier.flow(term(4), first);
    expect(unifier.flow(first, joined)).toBe(true);
    expect(unifier.flow(term('?'), joined)).toBe(true);
    expect(format(unifier, joined)).toBe('Tensor[(?,), float32]');
    expect(format(unifier, first)).toBe('Tensor[(4,), float32]');
    expect(unifier.flow(term(5), first)).toBe(false);
  });

  test('do not stand for what contains them', () => {
    const unifier = new Unifier();
    const meta = freshMeta();
    expect(unifier.flow(functionTerm([meta], term(1)), meta)).toBe(false);
    expect(unifier.flow(meta, functionTerm([], meta))).toBe(false);
    expect(unifier.flow(meta, meta)).toBe(true);
  });

  test('parameters go against the direction, results along it', () => {
    const unifier = new Unifier();
    const wide = functionTerm([term('?')], term(4));
    const narrow = functionTerm([term(4)], term('?'));
    expect(unifier.flow(wide, narrow)).toBe(true);
    expect(unifier.flow(narrow, wide)).toBe(false);
  });
});
