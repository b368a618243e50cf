import { once } from '../core/once.ts';
import { defineInspector, type InspectorTarget } from '../inspector/index.ts';
import type { WeftInspector } from '../inspector/weft-inspector.ts';
import { byId } from './element.ts';

const inspector = once((): WeftInspector => {
  defineInspector();
  const element = document.createElement('weft-inspector');
  byId('inside', HTMLDialogElement).append(element);
  return element;
});

/** Shows a program from the inside, in front of the page. */
export async function openInspector(target: InspectorTarget): Promise<void> {
  const element = inspector();
  byId('inside', HTMLDialogElement).showModal();
  // The element itself says what it could not show.
  await element.show(target).catch(() => undefined);
}
