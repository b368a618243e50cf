import { createService } from './create-service.ts';
import { serve } from './serve.ts';

// A page without workers imports this file too (client/start/page-machine.ts), and takes the machine that it has.
if (globalThis.weftPage === undefined) serve();
else globalThis.weftPage.createService = createService;
