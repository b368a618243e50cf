import { element } from './element.ts';

/** Terms and what is known of them. */
export type Facts = readonly (readonly [term: string, text: string])[];

/** Replaces what a description list says. */
export function showFacts(list: HTMLElement, facts: Facts): void {
  list.replaceChildren(
    ...facts.flatMap(([term, text]) => [element('dt', {}, term), element('dd', {}, text)]),
  );
}
