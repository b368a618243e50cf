import { describe, expect, test } from 'vitest';
import { inferModule } from '../inference/infer-module.ts';
import { parseModule } from '../ir/text/parse.ts';
import { runNamed } from '../testing/text-after.ts';
import { verifyModule } from './verify-module.ts';

/** Verifies a function of two tensors and an int. */
function verify(body: string): void {
  verifyModule(
    parseModule(`def @main(%x: Tensor[(2,), float32], %y: Tensor[(2,), float32], %c: int) {
      ${body}
    }`),
  );
}

describe('a use behind a kill', () => {
  test.each([
    ['in a line', 'let %_ = kill(%x); neg(%x)', 'x'],
    ['a second kill', 'let %_ = kill(%x); let %__ = kill(%x); %y', 'x'],
    ['in a branch', 'let %_ = kill(%y); if (%c) { %x } else { let %z = neg(%y); %z }', 'y'],
    ['after a branch', 'let %z = if (%c) { let %_ = kill(%x); %y } else { %y }; add(%z, %x)', 'x'],
    ['by a closure', 'let %_ = kill(%x); let %f = fn () { neg(%x) }; %f()', 'x'],
    ['in a closure', 'let %f = fn () { let %_ = kill(%x); neg(%x) }; %f()', 'x'],
    [
      'after an if inside an if',
      `let %z = if (%c) { let %w = if (%c) { let %_ = kill(%x); %y } else { %y }; neg(%w) } else { %y };
       (%z, %x)`,
      'x',
    ],
  ])('%s', (_, body, name) => {
    expect(() => verify(body)).toThrow(`got %${name} after its kill, expected a live variable`);
  });

  test.each([
    ['in the other branch', 'if (%c) { let %_ = kill(%x); neg(%y) } else { neg(%x) }'],
    ['before', 'let %z = neg(%x); let %_ = kill(%x); add(%z, %y)'],
    ['of what a closure holds', 'let %f = fn () { let %z = neg(%x); let %_ = kill(%x); %z }; %f()'],
  ])('is none %s', (_, body) => {
    expect(() => verify(body)).not.toThrow();
  });

  test('is none where liveness has put the kills', () => {
    const text = `def @main(%c: int, %x: Tensor[(2,), float32], %y: Tensor[(2,), float32]) {
      let %pair = if (%c) { (%x, %y) } else { (add(%x, %y), %x) };
      if (%c) { neg(%pair.0) } else { add(%pair.0, %y) }
    }`;
    const passes = ['fuse', 'to-anf', 'lambda-lift', 'plan-memory', 'liveness'];
    expect(() => verifyModule(runNamed(passes, inferModule(parseModule(text))))).not.toThrow();
  });
});
