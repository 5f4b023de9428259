// The page of an address that has none.

import { begin, connection, loading } from './page.js';

begin().then(() => connection('live'), () => {});
loading(false);
