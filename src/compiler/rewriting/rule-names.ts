import type { ExprPattern } from './expr-pattern.ts';

/** The names that a pattern gives in every match. */
export interface PatternNames {
  /** Names of expressions that every match has. */
  readonly exprs: ReadonlySet<string>;
  /** Names of attributes that every match has. */
  readonly attributes: ReadonlySet<string>;
}

/** The names that whatever a pattern fits has. Those of one alternative alone are not among them. */
export function namesOf(pattern: ExprPattern): PatternNames {
  switch (pattern.kind) {
    case 'any':
      return { exprs: new Set([pattern.name]), attributes: new Set() };
    case 'constant':
      return { exprs: named(pattern.name), attributes: new Set() };
    case 'either': {
      const [first, ...others] = pattern.patterns.map(namesOf);
      const inAll = (of: (names: PatternNames) => ReadonlySet<string>): Set<string> =>
        new Set(
          [...(first ? of(first) : [])].filter((name) => others.every((o) => of(o).has(name))),
        );
      return { exprs: inAll(({ exprs }) => exprs), attributes: inAll((names) => names.attributes) };
    }
    case 'call': {
      const inner = pattern.args.map(namesOf);
      const own = Object.values(pattern.attributes ?? {});
      const kept = own.flatMap(({ name, isOptional }) =>
        name === undefined || isOptional === true ? [] : [name],
      );
      return {
        exprs: new Set([...named(pattern.name), ...inner.flatMap(({ exprs }) => [...exprs])]),
        attributes: new Set([...kept, ...inner.flatMap(({ attributes }) => [...attributes])]),
      };
    }
    default:
      return pattern satisfies never;
  }
}

function named(name: string | undefined): Set<string> {
  return new Set(name === undefined ? [] : [name]);
}
