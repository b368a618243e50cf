import { MagicString } from 'magic-string';
import { parseSync } from 'rolldown/utils';
import type { Plugin } from 'vite';

const SOURCE = /\/src\/.*\.ts$/;

/** Lets modules import at once what they would load by `import()`, for threads that know none. */
export function importAtOnce(): Plugin {
  return {
    name: 'weft:import-at-once',
    enforce: 'pre',
    transform(code, id) {
      if (!SOURCE.test(id)) return null;
      const { module } = parseSync(id, code);
      if (module.dynamicImports.length === 0) return null;
      const text = new MagicString(code);
      for (const [i, { start, end, moduleRequest }] of module.dynamicImports.entries()) {
        const name = code.slice(moduleRequest.start, moduleRequest.end);
        text.update(start, end, `Promise.resolve(loaded${i})`);
        // Behind all lines, so that these keep their numbers.
        text.append(`import * as loaded${i} from ${name};\n`);
      }
      return { code: text.toString(), map: text.generateMap({ hires: 'boundary' }) };
    },
  };
}
