import type { ExecutableData } from '../../bytecode/executable.ts';

/** Two 32-bit FNV-1a hashes of what a program does, not of its weights. */
export function programKey({ code, primitives }: ExecutableData): string {
  const text = JSON.stringify(primitives);
  return hash(code, text, 0x811c9dc5) + hash(code, text, 0x01000193);
}

function hash(code: Uint32Array, text: string, start: number): string {
  let value = start;
  for (const word of code) value = Math.imul(value ^ word, 0x01000193);
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, '0');
}
