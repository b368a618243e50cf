import { defineInspector, type InspectorTarget } from '../inspector/index.ts';
import type { WeftInspector } from '../inspector/weft-inspector.ts';
import { byId } from './element.ts';

let inspector: WeftInspector | undefined;

/** Shows a program from the inside, in front of the page. */
export async function openInspector(target: InspectorTarget): Promise<void> {
  const dialog = byId('inside', HTMLDialogElement);
  if (inspector === undefined) {
    defineInspector();
    inspector = document.createElement('weft-inspector');
    dialog.append(inspector);
  }
  dialog.showModal();
  // The element itself says what it could not show.
  await inspector.show(target).catch(() => undefined);
}
