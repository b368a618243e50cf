import type { Expr, Module } from '../expr.ts';
import { exprTokens, moduleTokens, type Token } from '../text/program-tokens.ts';

/**
 * Returns true if two modules are the same program. Names of variables and of type parameters and
 * places in sources do not matter. Sharing does: an expression that is computed once is not the
 * same as two that are equal. Constants are compared by content. Linear in the size of the graphs.
 */
export function equalModules(a: Module, b: Module): boolean {
  return equalTokens(moduleTokens(a), moduleTokens(b));
}

/** {@link equalModules} for expressions. A variable that is free in both is equal only to itself. */
export function equalExprs(a: Expr, b: Expr): boolean {
  return equalTokens(exprTokens(a), exprTokens(b));
}

/** 64 bits as 16 hexadecimal digits. Equal modules have equal hashes, from one run to the next. */
export function hashModule(module: Module): string {
  return hashTokens(moduleTokens(module));
}

/** {@link hashModule} for expressions. Free variables count by their names. */
export function hashExpr(expr: Expr): string {
  return hashTokens(exprTokens(expr));
}

function equalTokens(a: Iterator<Token>, b: Iterator<Token>): boolean {
  for (;;) {
    const left = a.next();
    const right = b.next();
    if (left.done === true || right.done === true) return left.done === right.done;
    if (!sameToken(left.value, right.value)) return false;
  }
}

function sameToken(a: Token, b: Token): boolean {
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b)) return a === b;
  if (a.byteLength !== b.byteLength) return false;
  const left = new Uint8Array(a.buffer, a.byteOffset, a.byteLength);
  const right = new Uint8Array(b.buffer, b.byteOffset, b.byteLength);
  return left.every((byte, i) => byte === right[i]);
}

/** Two FNV-1a hashes of 32 bits side by side, from different offsets and with different primes. */
function hashTokens(tokens: Iterable<Token>): string {
  let low = 0x811c9dc5;
  let high = 0x2b992ddf;
  const mix = (byte: number): void => {
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ byte, 0x0100019d) ^ (high >>> 15);
  };
  for (const token of tokens) {
    if (ArrayBuffer.isView(token)) {
      const bytes = new Uint8Array(token.buffer, token.byteOffset, token.byteLength);
      for (const byte of bytes) mix(byte);
    } else {
      const text = typeof token === 'object' ? `free ${token.name}` : String(token);
      for (let i = 0; i < text.length; i++) mix(text.charCodeAt(i));
    }
    mix(0x1f);
  }
  return hex(high) + hex(low);
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
