import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileFunction, constants } from 'node:vm';

const LIBRARY = fileURLToPath(
  new URL('node_modules/@mlc-ai/web-xgrammar/lib/index.js', import.meta.url),
);

/** The part of @mlc-ai/web-xgrammar that is measured. */
export interface XGrammar {
  readonly TokenizerInfo: {
    createTokenizerInfo(
      tokens: string[],
      kind: string,
      prependSpace: boolean,
      size: number,
      stopTokens: number[],
    ): Promise<unknown>;
  };
  readonly GrammarCompiler: {
    createGrammarCompiler(
      tokenizer: unknown,
      isCached: boolean,
    ): Promise<{
      compileJSONSchema(
        schema: string,
        anyWhitespace: boolean,
        indent: number,
        separators: [string, string],
      ): Promise<unknown>;
    }>;
  };
  readonly GrammarMatcher: {
    createGrammarMatcher(grammar: unknown): Promise<{
      acceptToken(id: number): boolean;
      getNextTokenBitmask(): Promise<Int32Array>;
      dispose(): void;
    }>;
  };
}

/** The library, or undefined if it is not installed in this folder. */
export function loadXGrammar(): XGrammar | undefined {
  if (!existsSync(LIBRARY)) return undefined;
  // A CommonJS file in a package that calls itself an ES module, so Node loads it as neither.
  const names = ['exports', 'module', 'require', '__filename', '__dirname'];
  const load = compileFunction(readFileSync(LIBRARY, 'utf8'), names, {
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const exports: Partial<XGrammar> = {};
  load.call(exports, exports, { exports }, createRequire(LIBRARY), LIBRARY, dirname(LIBRARY));
  return exports as XGrammar;
}

/** A token in the alphabet of byte-level tokenizers: a printable character for each byte. */
export function byteLevelText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => BYTE_CHARACTERS[byte] ?? '').join('');
}

const isPrintable = (byte: number): boolean =>
  (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);

const BYTE_CHARACTERS = (() => {
  let other = 0x100;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCharCode(isPrintable(byte) ? byte : other++),
  );
})();
