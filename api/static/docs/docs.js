"use strict";

const place = document.getElementById("docs");
window.SwaggerUIBundle({
  domNode: place,
  url: place.dataset.schema,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: false,
  validatorUrl: null, // a validator would send the schema to another site
});
