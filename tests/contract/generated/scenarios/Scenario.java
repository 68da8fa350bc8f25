import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.time.LocalDate;
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

/** The scenario through openapi-generator's Java client: stock, an order, its shipping, and an error. */
public class Scenario {
  static JsonNode demo;

  static ApiClient client(JsonNode party) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(demo.get("base_url").asText());
    String key = "Bearer " + party.get("api_key").asText();
    client.setRequestInterceptor(request -> request.header("Authorization", key));
    return client;
  }

  static void check(boolean holds, Object shown) {
    if (!holds) throw new IllegalStateException(String.valueOf(shown));
  }

  public static void main(String[] none) throws Exception {
    demo = new ObjectMapper().readTree(new File(System.getenv("DEMO_JSON")));
    JsonNode acme = demo.get("suppliers").get(0), shop = demo.get("retailers").get(0);
    Long supplier = acme.get("id").asLong(), retailer = shop.get("id").asLong();
    SupplierCatalogApi catalog = new SupplierCatalogApi(client(acme));
    SupplierStockApi stock = new SupplierStockApi(client(acme));
    SupplierFulfillmentsApi fulfillments = new SupplierFulfillmentsApi(client(acme));
    RetailerOrdersApi orders = new RetailerOrdersApi(client(shop));
    RetailerCatalogApi pulls = new RetailerCatalogApi(client(shop));
    String sku = "JAVA-" + System.nanoTime();

    // The supplier offers a variant, and says how much there is of it.
    VariantBody body = new VariantBody().sku(sku).title("Lamp");
    body.retailPrice(new java.math.BigDecimal("5.5")).addImagesItem("https://e.example/1.jpg");
    Variant created = catalog.createVariant(supplier, body, null);
    check(created.getImages().equals(List.of("https://e.example/1.jpg")), created);
    Long warehouse = stock.listWarehouses(supplier, null, null).get(0).getId();
    PushBody counts = new PushBody().warehouseId(warehouse);
    counts.addInventoriesItem(new InventoryElementBody().id(sku).amount(9));
    check(stock.pushInventory(supplier, counts, null).getUpdated() == 1, counts);

    // The retailer pulls what there is, and orders.
    for (Group group : pulls.pullVariants(retailer, "ecommerce", null, null, 5, null))
      check(group.getVariants().get(0) > 0, group);
    OrderBody order = new OrderBody().retailerOrderId(sku).shipUntil(LocalDate.now());
    order.addOrderLinesItem(new LineBody().sku(sku).quantity(2));
    order.shippingAddress(new AddressBody().firstName("Ada").address1("1 High St").country("GB"));
    Pushed placed = orders.pushOrder(retailer, order, null);
    check(placed.getCode().equals("order_created"), placed);

    // The supplier captures, accepts and ships it.
    Fulfillment mine = null;
    for (Fulfillment each : fulfillments.listFulfillments(supplier, null, null, "new", 500, "ordered"))
      if (each.getOrderId().equals(placed.getOrderId())) mine = each;
    check(mine != null && mine.getFulfillmentState() == FulfillmentState.NEW, mine);
    fulfillments.acceptFulfillment(mine.getId(), supplier, new TrackingBody());
    ShipBody tracked = new ShipBody().trackingNumber("T-" + sku);
    check(fulfillments.shipFulfillment(mine.getId(), supplier, tracked).getCode().equals("shipped"), mine);

    // The retailer sees it, and an error says what is wrong.
    Order after = orders.getOrder(placed.getOrderId(), retailer, null);
    check(after.getProcessingState() == ProcessingState.COMPLETED, after);
    check(after.getFulfillments().get(0).getTrackingNumbers().equals(List.of("T-" + sku)), after);
    order.retailerOrderId(sku + "-0").getOrderLines().get(0).quantity(0);
    try {
      orders.pushOrder(retailer, order, null);
      throw new IllegalStateException("nothing was refused");
    } catch (ApiException refused) {
      ApiError error = new ObjectMapper().readValue(refused.getResponseBody(), ApiError.class);
      check(refused.getCode() == 400 && error.getErrors().get(0).getField().contains("quantity"), error);
    }
    System.out.println("shipped");
  }
}
